//! The buffer that a socket reads into and that frames are opened in.

use bytes::{BufMut, Bytes, BytesMut, buf::Limit};

const KIB: usize = 1 << 10;

/// What a connection starts with; holds any frame of a handshake.
const INITIAL: usize = 32 * KIB;
/// As far as it grows. Larger than the largest frame that is opened in it: a control frame of
/// [`crate::limits::MAX_CONTROL`] or a message whose body does not pass [`BODY_IN_PLACE`].
const MAX: usize = 256 * KIB;
/// A message whose front, middle and data together exceed this is read into a buffer of its own.
pub(crate) const BODY_IN_PLACE: usize = 128 * KIB;
/// A data segment that exceeds this is read into a buffer of its own, so that whoever keeps it does not
/// have to copy it.
pub(crate) const DATA_IN_PLACE: usize = 64 * KIB;

/// Received bytes. The socket reads into [`ReadBuffer::spare_mut`] and reports with
/// [`ReadBuffer::commit`], or, while a large message arrives, appends to [`ReadBuffer::body_mut`]; frames
/// are then decrypted and viewed where they lie.
///
/// It grows only because bytes have arrived, never because a frame announces them: twofold whenever a
/// read has filled it, up to 256 KiB. Larger messages get a buffer of their own of exactly their size,
/// within [`crate::Limits`], whose memory the system commits as bytes arrive.
#[derive(Debug)]
pub struct ReadBuffer {
    storage: Vec<u8>,
    start: usize,
    end: usize,
    filled: bool,
    body: Option<Body>,
    /// The body that the frame taken last lies in.
    held: Bytes,
}

/// A message body in a buffer of its own, while it arrives.
#[derive(Debug)]
struct Body {
    /// What has arrived, and what is lent out behind it; has room for all of it.
    bytes: BytesMut,
    len: usize,
    /// Zeros at the end that [`ReadBuffer::spare_mut`] has lent out.
    lent: usize,
}

impl Body {
    fn is_whole(&self) -> bool {
        self.arrived() == self.len
    }

    fn arrived(&self) -> usize {
        self.bytes.len() - self.lent
    }

    /// Ends a loan: the first `n` bytes of it have arrived.
    fn take_back(&mut self, n: usize) {
        self.bytes.truncate(self.arrived() + n);
        self.lent = 0;
    }
}

impl Default for ReadBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadBuffer {
    /// An empty buffer of 32 KiB.
    pub fn new() -> Self {
        ReadBuffer {
            storage: vec![0; INITIAL],
            start: 0,
            end: 0,
            filled: false,
            body: None,
            held: Bytes::new(),
        }
    }

    /// Where the next bytes of the socket go.
    ///
    /// Empty only if the buffer is full of frames that nobody has taken: take all of them (until
    /// [`crate::FrameReader::next`] returns `None`) before reading again.
    pub fn spare_mut(&mut self) -> &mut [u8] {
        if let Some(body) = self.body.as_mut().filter(|body| !body.is_whole()) {
            body.take_back(0);
            let arrived = body.bytes.len();
            // No more than a read brings: these bytes are made zeros first.
            body.lent = (body.len - arrived).min(MAX);
            body.bytes.resize(arrived + body.lent, 0);
            return &mut body.bytes[arrived..];
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 && self.storage.len() - self.end < self.storage.len() / 2 {
            // Only the beginning of one frame is left here, so this moves little.
            self.storage.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if (self.filled || self.end == self.storage.len()) && self.storage.len() < MAX {
            self.storage.resize(self.storage.len() * 2, 0);
        }
        self.filled = false;
        &mut self.storage[self.end..]
    }

    /// The large message that is arriving, with room for what is missing of it: what the socket has next
    /// belongs there, and needs no [`ReadBuffer::commit`]. None at other times.
    ///
    /// The same bytes may go to [`ReadBuffer::spare_mut`], which makes them zeros first.
    pub fn body_mut(&mut self) -> Option<Limit<&mut BytesMut>> {
        let body = self.body.as_mut().filter(|body| !body.is_whole())?;
        body.take_back(0);
        let missing = body.len - body.bytes.len();
        Some((&mut body.bytes).limit(missing))
    }

    /// Reports that the first `n` bytes of [`ReadBuffer::spare_mut`] were filled.
    ///
    /// # Panics
    /// If `n` is more than there was room for.
    pub fn commit(&mut self, n: usize) {
        if let Some(body) = self.body.as_mut().filter(|body| body.lent > 0) {
            assert!(n <= body.lent, "more bytes than there was room for");
            body.take_back(n);
            return;
        }
        assert!(n <= self.storage.len() - self.end, "more bytes than there was room for");
        self.end += n;
        self.filled = self.end == self.storage.len();
    }

    /// Copies bytes in, as if they had been read from a socket. Returns how many there was room for.
    pub fn extend(&mut self, bytes: &[u8]) -> usize {
        let spare = self.spare_mut();
        let n = spare.len().min(bytes.len());
        spare[..n].copy_from_slice(&bytes[..n]);
        self.commit(n);
        n
    }

    /// Memory that the buffer holds, in bytes.
    pub fn capacity(&self) -> usize {
        self.storage.len() + self.held.len() + self.body.as_ref().map_or(0, |body| body.len)
    }

    /// Gives memory back while a connection idles; what has arrived stays.
    pub fn shrink(&mut self) {
        self.held = Bytes::new();
        if self.start == self.end && self.storage.len() > INITIAL {
            (self.start, self.end) = (0, 0);
            self.storage.truncate(INITIAL);
            self.storage.shrink_to_fit();
        }
    }

    pub(crate) fn unread(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.end]
    }

    /// Where the unread bytes begin; a position for [`ReadBuffer::at`], good until the next read.
    pub(crate) fn position(&self) -> usize {
        self.start
    }

    /// Passes over `n` bytes, which stay where they are until the next read.
    pub(crate) fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
    }

    /// Bytes at a position, consumed or not.
    pub(crate) fn at(&self, position: usize) -> &[u8] {
        &self.storage[position..]
    }

    /// Starts a body of its own of `len` bytes, which follows the first `after` unread bytes. Bytes of it
    /// that were read already move over.
    pub(crate) fn begin_body(&mut self, after: usize, len: usize) {
        // No page is touched before its bytes arrive: announcing a large message costs us nothing.
        let mut bytes = BytesMut::with_capacity(len);
        let from = self.start + after;
        let here = (self.end - from).min(len);
        bytes.extend_from_slice(&self.storage[from..from + here]);
        if from + here < self.end {
            self.storage.copy_within(from + here..self.end, from);
        }
        self.end -= here;
        self.body = Some(Body { bytes, len, lent: 0 });
    }

    /// The body of its own once all of it has arrived.
    pub(crate) fn whole_body(&mut self) -> Option<Option<&mut [u8]>> {
        self.body.as_mut().map(|body| body.is_whole().then_some(&mut body.bytes[..]))
    }

    /// Ends the body and keeps it viewable until the next frame.
    pub(crate) fn hold_body(&mut self) {
        self.held = self.body.take().map(|body| body.bytes.freeze()).unwrap_or_default();
    }

    pub(crate) fn held(&self) -> &Bytes {
        &self.held
    }

    pub(crate) fn release_held(&mut self) {
        self.held = Bytes::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_only_when_reads_fill_it_and_not_for_ever() {
        let mut buffer = ReadBuffer::new();
        assert_eq!(buffer.spare_mut().len(), INITIAL);
        buffer.commit(INITIAL - 1);
        assert_eq!(buffer.spare_mut().len(), 1);
        assert_eq!(buffer.capacity(), INITIAL);
        for _ in 0..8 {
            let room = buffer.spare_mut().len();
            buffer.commit(room);
        }
        assert_eq!(buffer.capacity(), MAX);
        assert_eq!(buffer.spare_mut().len(), 0);
        buffer.consume(MAX);
        assert_eq!(buffer.spare_mut().len(), MAX);
        buffer.shrink();
        assert_eq!(buffer.capacity(), INITIAL);
    }

    #[test]
    fn the_rest_of_a_partial_frame_moves_to_the_front() {
        let mut buffer = ReadBuffer::new();
        buffer.spare_mut().fill(7);
        buffer.commit(INITIAL - 10);
        buffer.consume(INITIAL - 15);
        assert_eq!(buffer.spare_mut().len(), INITIAL - 5);
        assert_eq!(buffer.unread(), [7; 5]);
        assert_eq!(buffer.capacity(), INITIAL);
    }

    #[test]
    fn a_body_of_its_own_takes_what_was_read_ahead_and_leaves_what_follows() {
        let mut buffer = ReadBuffer::new();
        buffer.extend(b"headBODYnext");
        buffer.begin_body(4, 4);
        assert_eq!(buffer.whole_body().unwrap().unwrap(), b"BODY");
        assert_eq!(buffer.unread(), b"headnext");
        buffer.hold_body();

        buffer.begin_body(8, 6);
        assert!(buffer.whole_body().unwrap().is_none());
        assert_eq!(buffer.extend(b"abcdefgh"), 6);
        assert_eq!(buffer.whole_body().unwrap().unwrap(), b"abcdef");
        buffer.extend(b"gh");
        assert_eq!(buffer.unread(), b"headnextgh");
    }

    #[test]
    fn a_body_takes_what_is_appended_and_no_byte_of_the_next_frame() {
        let mut buffer = ReadBuffer::new();
        buffer.extend(b"headBO");
        buffer.begin_body(4, 4);
        let mut body = buffer.body_mut().unwrap();
        assert_eq!(body.remaining_mut(), 2);
        body.put_slice(b"D");
        assert_eq!(buffer.extend(b"Ynext"), 1);
        assert!(buffer.body_mut().is_none());
        assert_eq!(buffer.whole_body().unwrap().unwrap(), b"BODY");
        buffer.extend(b"next");
        assert_eq!(buffer.unread(), b"headnext");
    }

    #[test]
    fn bytes_of_a_body_that_were_lent_out_and_not_filled_are_no_part_of_it() {
        let mut buffer = ReadBuffer::new();
        buffer.begin_body(0, MAX + 2);
        assert_eq!(buffer.spare_mut().len(), MAX);
        // Nothing came, and the reader asks again.
        assert_eq!(buffer.spare_mut().len(), MAX);
        assert_eq!(buffer.spare_mut().len(), MAX);
        assert!(buffer.whole_body().unwrap().is_none());
        buffer.commit(1);
        assert_eq!(buffer.body_mut().unwrap().remaining_mut(), MAX + 1);
        assert!(buffer.whole_body().unwrap().is_none());
    }
}
