//! What an operation may cost.

use std::fmt;

use sepiola_benches::Op;

/// `OP INSTRUCTIONS` a line.
const BUDGET: &str = include_str!("../../../instructions.txt");
/// Percent that a count may differ: seeds of hash tables, the C library's choice of a memcpy for the
/// processor, and compilers of another minor version. One more copy of the payload is 2.4 percent of a write.
const MARGIN: u64 = 2;

/// A count beside its budget.
#[derive(Debug, PartialEq)]
pub struct Verdict {
    counted: u64,
    budget: u64,
}

/// Compares a count with the budget in the tree.
pub fn judge(op: Op, counted: u64) -> Result<Verdict, String> {
    let budget = find(BUDGET, op).ok_or_else(|| format!("benches/instructions.txt has no line for {op}"))?;
    Ok(Verdict { counted, budget })
}

fn find(text: &str, op: Op) -> Option<u64> {
    let name = op.to_string();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .find(|(of, _)| *of == name)
        .and_then(|(_, number)| number.trim().parse().ok())
}

impl Verdict {
    /// True when it is too much.
    pub fn exceeds(&self) -> bool {
        self.counted * 100 > self.budget * (100 + MARGIN)
    }

    fn is_far_below(&self) -> bool {
        self.counted * 100 < self.budget * (100 - MARGIN)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instructions, {} in the budget", self.counted, self.budget)?;
        if self.is_far_below() {
            write!(f, " (far below: lower the number in benches/instructions.txt, to keep what was won)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_budget() {
        assert!(Op::ALL.iter().all(|op| find(BUDGET, *op).is_some()));
        assert_eq!(find("# rand 1\nwrite 20\nrand 300\n", Op::Rand), Some(300));
    }

    #[test]
    fn only_what_is_above_the_margin_exceeds() {
        let verdict = |counted| Verdict { counted, budget: 1000 };
        assert!(verdict(1021).exceeds() && !verdict(1020).exceeds() && !verdict(900).exceeds());
        assert!(verdict(979).to_string().contains("lower") && !verdict(980).to_string().contains("lower"));
    }
}
