//! CryptoKey: secrets together with every cipher context derived from them
