//! Lines for people and scripts, for which a closed pipe is no failure.

/// `println!`, but whoever has closed standard output has read enough.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{}\n", format_args!($($text)*)));
    }};
}
