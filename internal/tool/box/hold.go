package box

import (
	"fmt"
	"os"
	"strconv"

	"tandem/internal/fault"
)

// Hold keeps the program of a box from running while its box is made, so that what must be known before it runs can be written down
// meanwhile. Whoever holds it and ends without a word leaves it held: nothing runs, and the box goes with its maker.
type Hold struct {
	gate *os.File // what the box waits at: it can also be written, so that the end of everybody else is not taken for the word
	word *os.File
}

// NewHold makes one for one box of bubblewrap's.
func NewHold() (*Hold, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandbox", "a command cannot be held back: %w", err)
	}
	defer r.Close()
	gate, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", r.Fd()), os.O_RDWR, 0)
	if err != nil {
		w.Close()
		return nil, fault.New(fault.Unavailable, "sandbox", "a command cannot be held back: %w", err)
	}
	return &Hold{gate: gate, word: w}, nil
}

// Release lets the program run.
func (h *Hold) Release() error {
	_, err := h.word.Write([]byte{'!'})
	return err
}

// close is for when the box is gone.
func (h *Hold) close() {
	if h != nil {
		h.gate.Close()
		h.word.Close()
	}
}

// opened are the files that a command line names by number.
type opened struct {
	files  []*os.File
	copies []*os.File // those of them that were opened for it
}

// add takes a file along, and is its number in the program that is started.
func (o *opened) add(f *os.File) string {
	o.files = append(o.files, f)
	return strconv.Itoa(2 + len(o.files)) // behind the three that every program has
}

// maxCopied is the largest file that a box gets as a copy of its own.
const maxCopied = 1 << 20

// copied takes a file along to be copied into the box, which costs less than a mount; not ok is one that has to be mounted.
func (o *opened) copied(path string) (fd string, ok bool) {
	if o == nil {
		return "", false
	}
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxCopied {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	o.copies = append(o.copies, f)
	return o.add(f), true
}

func (o *opened) close() {
	for _, f := range o.copies {
		f.Close()
	}
}
