package host

import (
	"fmt"
	"io"
	"strconv"

	"tandem/internal/fault"
)

// packets passes on what git answers, and knows where its packets end: an answer that has to end in the middle ends with a reason that
// git prints.
type packets struct {
	w    io.Writer
	head []byte // of the packet that begins
	left int    // of the packet under way
	at   int    // how much of it has come
	band bool   // the last packet's first byte says what it carries: the objects themselves are under way
}

// Write passes bytes on.
func (p *packets) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.follow(b[:n])
	return n, err
}

func (p *packets) follow(b []byte) {
	for len(b) > 0 {
		if p.left == 0 {
			k := min(4-len(p.head), len(b))
			p.head, b = append(p.head, b[:k]...), b[k:]
			if len(p.head) == 4 {
				size, err := strconv.ParseUint(string(p.head), 16, 16)
				if p.head, p.at = nil, 0; err == nil && size > 4 {
					p.left = int(size) - 4
				}
			}
			continue
		}
		if p.at == 0 {
			p.band = b[0] >= 1 && b[0] <= 3
		}
		k := min(p.left, len(b))
		p.left, p.at, b = p.left-k, p.at+k, b[k:]
	}
}

// fail ends the answer with why. What is missing of a packet is filled up: git throws it away with the rest.
func (p *packets) fail(why error) error {
	fill := func(n int, with byte) error {
		rest := make([]byte, n)
		for i := range rest {
			rest[i] = with
		}
		_, err := p.Write(rest)
		return err
	}
	if len(p.head) > 0 {
		if err := fill(4-len(p.head), '0'); err != nil {
			return err
		}
	}
	if err := fill(p.left, 0); err != nil {
		return err
	}
	f := fault.Public(why)
	text := "ERR tandem: " + f.Msg
	if p.band {
		text = "\x03tandem: " + f.Msg + "\n"
	}
	_, err := fmt.Fprintf(p.w, "%04x%s", len(text)+4, text)
	return err
}
