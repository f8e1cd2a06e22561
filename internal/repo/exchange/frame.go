package exchange

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"tandem/internal/fault"
)

// ContentType names the frames in HTTP.
const ContentType = "application/vnd.tandem.sync"

// Kind is what a frame holds.
type Kind byte

// The kinds of frames, in the order in which they travel.
const (
	Head      Kind = 'h' // JSON: what this exchange is about; first, once
	Pack      Kind = 'k' // a piece of a git pack; an empty one ends the pack
	View      Kind = 'v' // a view: its id and its bytes
	Operation Kind = 'o' // an operation: its id and its bytes, parents first
	End       Kind = 'e' // empty; last: nothing was cut off
	Fault     Kind = 'f' // JSON: what went wrong; last, instead of End
)

// Frames are small, so that neither side holds much. A view names every
// bookmark there is and may be larger.
const (
	chunk    = 256 << 10
	maxFrame = 64 << 20
)

// Writer writes frames.
type Writer struct{ w *bufio.Writer }

// NewWriter writes frames to w; End flushes them.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriterSize(w, 64<<10)} }

// Frame writes one frame whose content is the parts in order.
func (w *Writer) Frame(k Kind, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > maxFrame {
		return fault.New(fault.Exhausted, "repo.sync", "%d bytes are too many for one frame of a sync", n)
	}
	var head [5]byte
	head[0] = byte(k)
	binary.BigEndian.PutUint32(head[1:], uint32(n))
	if _, err := w.w.Write(head[:]); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes one frame that holds a value.
func (w *Writer) JSON(k Kind, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.Frame(k, data)
}

// End says that nothing was cut off, and flushes.
func (w *Writer) End() error {
	if err := w.Frame(End); err != nil {
		return err
	}
	return w.w.Flush()
}

// Fail ends the exchange with what went wrong.
func (w *Writer) Fail(err error) error {
	f := fault.Public(err)
	if err := w.JSON(Fault, problem{f.Kind.String(), f.Msg, f.Next}); err != nil {
		return err
	}
	return w.w.Flush()
}

type problem struct{ Code, Error, Next string }

// packWriter cuts a pack into frames, and goes on for as long as its context does: a large file is one write.
type packWriter struct {
	ctx context.Context
	w   *Writer
}

func (p packWriter) Write(b []byte) (int, error) {
	for at := 0; at < len(b); at += chunk {
		if err := p.ctx.Err(); err != nil {
			return at, err
		}
		if err := p.w.Frame(Pack, b[at:min(at+chunk, len(b))]); err != nil {
			return at, err
		}
	}
	return len(b), nil
}

// Reader reads frames.
type Reader struct {
	r    *bufio.Reader
	pack []byte // of the last piece of a pack, for the next one
}

// NewReader reads frames from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

var errCut = errors.New("the connection ended in the middle")

func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.Invalid, "repo.sync", "the sync was cut short: %w", errCut)
	}
	return err
}

// Cut says whether an exchange failed because the connection ended, so that
// trying again may help.
func Cut(err error) bool {
	var network net.Error
	if errors.As(err, &network) {
		_, other := network.(syscall.Errno) // any number of the system's calls itself one, that of a full disk, too
		return !other || network == syscall.ECONNRESET
	}
	return errors.Is(err, errCut) || errors.Is(err, syscall.ECONNRESET)
}

// Next reads a frame. A Fault frame comes back as the fault it holds; a piece of a
// pack is good until the next call.
func (r *Reader) Next() (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, cutShort(err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fault.New(fault.Invalid, "repo.sync", "a frame claims %d bytes", n)
	}
	// Memory follows what arrives, not what is claimed.
	var data []byte
	if Kind(head[0]) == Pack && n <= chunk {
		data = r.pack[:0]
		defer func() { r.pack = data }()
	}
	for len(data) < int(n) {
		at := len(data)
		data = append(data, make([]byte, min(int(n)-at, chunk))...)
		if _, err := io.ReadFull(r.r, data[at:]); err != nil {
			return 0, nil, cutShort(err)
		}
	}
	k := Kind(head[0])
	if k != Fault {
		return k, data, nil
	}
	var p problem
	if err := json.Unmarshal(data, &p); err != nil || p.Code == "" {
		return 0, nil, fmt.Errorf("the other side failed without saying why")
	}
	f := fault.New(fault.Parse(p.Code), "repo.sync", "%s", p.Error)
	f.Next = p.Next
	return 0, nil, f
}

// Ended reads the end of an exchange behind whose head nothing may come.
func (r *Reader) Ended() error {
	k, _, err := r.Next()
	if err == nil && k != End {
		err = fault.New(fault.Invalid, "repo.sync", "something was sent, but no head of it was named")
	}
	return err
}

// Head reads the first frame into v.
func (r *Reader) Head(v any) error {
	k, data, err := r.Next()
	if err != nil {
		return err
	}
	if k != Head {
		return fault.New(fault.Invalid, "repo.sync", "a sync begins with its head, not with a frame %q", byte(k))
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fault.New(fault.Invalid, "repo.sync", "the head of the sync cannot be read: %w", err)
	}
	return nil
}
