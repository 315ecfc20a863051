//! OSDMap, pools, CRUSH and placement
