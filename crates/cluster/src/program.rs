//! Which program runs the daemons.

use std::{env, path::PathBuf};

use crate::ClusterError;

/// The named program, `SEPIOLA_BIN`, or the `sepiola` beside this program: cargo puts test programs into
/// `deps/` or `examples/` below the folder of the binaries.
pub(crate) fn find(named: Option<PathBuf>) -> Result<PathBuf, ClusterError> {
    if let Some(program) =
        named.or_else(|| env::var_os("SEPIOLA_BIN").filter(|p| !p.is_empty()).map(PathBuf::from))
    {
        return Ok(program);
    }
    let here = env::current_exe().map_err(|_| ClusterError::NoProgram)?;
    here.ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(format!("sepiola{}", env::consts::EXE_SUFFIX)))
        .find(|program| program.is_file())
        .ok_or(ClusterError::NoProgram)
}
