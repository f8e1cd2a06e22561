package exchange

import (
	"context"
	"io"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// Question is the head of a request.
type Question struct {
	Workspace string   `json:"workspace"`       // in which the new operations were made
	Have      []string `json:"have"`            // operations of the server's that the replica holds with all they name
	Heads     []string `json:"heads,omitempty"` // the replica's own operation heads; they or their ancestors follow
	// Want and Skip go on with a fetch that was broken off: the head that was
	// being fetched, and how many of its objects are there already.
	Want string `json:"want,omitempty"`
	Skip int    `json:"skip,omitempty"`
	// Heard is the last word that the workspace knows.
	Heard string `json:"heard,omitempty"`
	// Back offers what the server once had as its head and does not know any more;
	// Receipt is its own word for that, when the replica has one, and Told a later
	// head that the replica was told of and never had.
	Back    bool    `json:"back,omitempty"`
	Receipt Receipt `json:"receipt,omitzero"`
	Told    Told    `json:"told,omitzero"`
}

// Told is a head that a server told of.
type Told struct {
	Head    string `json:"head"`
	Version int64  `json:"version"`
}

// Word is something that a workspace is to hear: what others did with files that
// it has leased.
type Word struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Answer is the head of a response.
type Answer struct {
	Repository string `json:"repository"` // its id, by which the replica asks from now on
	Head       string `json:"head"`       // the server's operation head, with what was sent merged in
	Version    int64  `json:"version"`    // grows with every change of the head
	// Actor is who asked, and Checkpoint the newest signed state of the server's
	// journal: operations made from now on name both.
	Actor      string `json:"actor,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"`
	Objects    int    `json:"objects,omitempty"` // about how many there are, skipped ones included
	Words      []Word `json:"words,omitempty"`   // for the workspace that asked, after those it has heard
	// Receipt is the server's signed word for its head, for the replica to keep.
	Receipt Receipt `json:"receipt,omitzero"`
}

// Send writes what a delta lists, without the first objects when some are to be
// skipped, and the end.
func Send(ctx context.Context, w *Writer, s *gitstore.Store, d *gitstore.Delta, skip int) error {
	if err := sendObjects(ctx, w, s, d, skip); err != nil {
		return err
	}
	for _, id := range d.Views {
		data, err := s.ViewBytes(id)
		if err != nil {
			return err
		}
		if err := w.Frame(View, []byte(id), data); err != nil {
			return err
		}
	}
	for _, id := range d.Operations {
		data, err := s.OperationBytes(id)
		if err != nil {
			return err
		}
		if err := w.Frame(Operation, []byte(id), data); err != nil {
			return err
		}
	}
	return w.End()
}

// sendObjects writes packs while what goes into the next ones is looked for.
func sendObjects(ctx context.Context, w *Writer, s *gitstore.Store, d *gitstore.Delta, skip int) error {
	found := make(chan []string, 4)
	ctx, stop := context.WithCancel(ctx)
	var failed error // known when found is closed
	go func() {
		defer close(found)
		var ids []string
		for id, err := range d.Objects(ctx) {
			if err != nil {
				failed = err
				return
			}
			if skip > 0 {
				skip--
				continue
			}
			if ids = append(ids, id); len(ids) < gitstore.PartObjects {
				continue
			}
			select {
			case found <- ids:
				ids = nil
			case <-ctx.Done():
				return
			}
		}
		if len(ids) > 0 {
			select {
			case found <- ids:
			case <-ctx.Done():
			}
		}
	}()
	defer func() {
		stop()
		for range found { // until the search has ended
		}
	}()
	for ids := range found {
		for len(ids) > 0 {
			n := s.Part(ids)
			if err := s.WritePack(ctx, packWriter{ctx, w}, ids[:n]); err != nil {
				return err
			}
			if err := w.Frame(Pack); err != nil {
				return err
			}
			ids = ids[n:]
		}
	}
	return failed
}

// Take reads everything behind the head into a quarantine and checks that it
// is whole.
func Take(ctx context.Context, r *Reader, in *gitstore.Incoming) error {
	for {
		k, data, err := r.Next()
		if err != nil {
			return err
		}
		switch k {
		case Pack:
			p := &packReader{r: r, rest: data, ended: len(data) == 0}
			if err := in.Pack(ctx, p); err != nil {
				return err
			}
			if !p.ended {
				return fault.New(fault.Invalid, "repo.sync", "a pack goes on behind its end")
			}
		case View:
			if len(data) < repo.OperationIDLen {
				return fault.New(fault.Invalid, "repo.sync", "a view without an id")
			}
			if err := in.View(repo.ViewID(data[:repo.OperationIDLen]), data[repo.OperationIDLen:]); err != nil {
				return err
			}
		case Operation:
			if len(data) < repo.OperationIDLen {
				return fault.New(fault.Invalid, "repo.sync", "an operation without an id")
			}
			if err := in.Operation(repo.OperationID(data[:repo.OperationIDLen]), data[repo.OperationIDLen:]); err != nil {
				return err
			}
		case End:
			return in.Check(ctx)
		default:
			return fault.New(fault.Invalid, "repo.sync", "a frame of the unknown kind %q", byte(k))
		}
	}
}

// packReader joins the frames of a pack until the empty one.
type packReader struct {
	r     *Reader
	rest  []byte
	ended bool
}

func (p *packReader) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.ended {
			return 0, io.EOF
		}
		k, data, err := p.r.Next()
		if err != nil {
			return 0, err
		}
		if k != Pack {
			return 0, fault.New(fault.Invalid, "repo.sync", "a pack is interrupted by a frame %q", byte(k))
		}
		p.rest, p.ended = data, len(data) == 0
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// ParseOperations reads operation ids in hexadecimal.
func ParseOperations(hex []string) ([]repo.OperationID, error) {
	out := make([]repo.OperationID, 0, len(hex))
	for _, h := range hex {
		id, ok := repo.ParseOperationID(h)
		if !ok {
			return nil, fault.New(fault.Invalid, "repo.sync", "%.20q is not an operation id", h)
		}
		out = append(out, id)
	}
	return out, nil
}

// Hex writes operation ids in hexadecimal.
func Hex(ids []repo.OperationID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, id.Hex())
	}
	return out
}
