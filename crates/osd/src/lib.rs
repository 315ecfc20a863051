//! The OSD: maps by epoch, placement groups, the op interpreter
