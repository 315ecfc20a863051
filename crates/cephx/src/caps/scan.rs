//! A cursor over capability text. What does not match leaves it where it was.

/// Characters of unquoted names.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n')
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scan { text, at: 0 }
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    pub(super) fn is_end(&self) -> bool {
        self.at == self.text.len()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> Option<&'a str> {
        let rest = self.rest();
        let len = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then(|| &rest[..len])
    }

    /// One space or more.
    pub(super) fn spaces(&mut self) -> Option<()> {
        self.take_while(is_space).map(drop)
    }

    /// Exactly this text.
    pub(super) fn lit(&mut self, text: &str) -> Option<()> {
        self.rest().starts_with(text).then(|| self.at += text.len())
    }

    /// An unquoted name.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.take_while(is_word)
    }

    /// Characters of a network prefix.
    pub(super) fn network(&mut self) -> Option<&'a str> {
        self.take_while(|c| c.is_ascii_hexdigit() || matches!(c, '/' | '.' | ':' | '[' | ']'))
    }

    /// A quoted text; it may be empty, and has no escapes.
    pub(super) fn quoted(&mut self) -> Option<&'a str> {
        let quote = self.rest().chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let inner = &self.rest()[1..];
        let len = inner.find(quote)?;
        self.at += len + 2;
        Some(&inner[..len])
    }

    /// A name, quoted or not.
    pub(super) fn string(&mut self) -> Option<&'a str> {
        self.attempt(|s| s.quoted().filter(|text| !text.is_empty())).or_else(|| self.word())
    }

    /// `=` or spaces.
    pub(super) fn equals_or_spaces(&mut self) -> Option<()> {
        self.lit("=").or_else(|| self.spaces())
    }

    /// Runs `rule`; if it does not match, nothing was read.
    pub(super) fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.at;
        let found = rule(self);
        if found.is_none() {
            self.at = before;
        }
        found
    }
}

/// A list of grants separated by `,` or `;`, which must fill the text. On failure returns the offset behind
/// the last grant that was understood.
pub(super) fn list<'a, T>(
    text: &'a str,
    mut grant: impl FnMut(&mut Scan<'a>) -> Option<T>,
) -> Result<Vec<T>, usize> {
    let mut scan = Scan::new(text);
    let mut grants = Vec::new();
    grants.extend(scan.attempt(&mut grant));
    while let Some(next) = scan.attempt(|s| {
        if grants.is_empty() {
            return None;
        }
        s.lit(",").or_else(|| s.lit(";"))?;
        grant(s)
    }) {
        grants.push(next);
    }
    if grants.is_empty() || !scan.is_end() { Err(scan.offset()) } else { Ok(grants) }
}
