//! Blocks of code in a page of Markdown.

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// What stands behind the fence: `sh`, `rust`, `toml`.
    pub language: String,
    /// What is inside, each line with its end.
    pub text: String,
}

impl Block {
    /// The file that the block is the content of, if its first line is a comment that names it.
    pub fn file(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
        (name.contains('.') && !name.contains(' ')).then_some(name)
    }
}

/// The fenced blocks of a page, in their order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { language: language.trim().to_owned(), text: String::new() });
            }
            (None, Some(block)) => {
                block.text += line;
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end");
    found
}

/// The lines of a block of the shell, with their comments.
pub fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// A line without the comment at its end.
pub fn without_comment(line: &str) -> &str {
    line.split("  #").next().unwrap_or(line).trim_end()
}

#[test]
fn blocks_are_found_with_their_language() {
    let found =
        blocks("text\n```sh\none   # first\n\ntwo\n```\n```rust\n// src/main.rs\nfn main() {}\n```\n");
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].language.as_str(), found[0].file()), ("sh", None));
    assert_eq!(commands(&found[0].text).map(without_comment).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(found[1].file(), Some("src/main.rs"));
}
