package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"tandem/internal/fault"
)

// The most that is taken from a server: whoever runs it decides what it sends, and not how much memory a command needs.
const (
	maxAnswer  = 128 << 20 // of an operation
	maxWelcome = 1 << 20   // of a server that is met for the first time
	maxLine    = 32 << 20  // of a stream
)

// whole reads an answer up to a bound.
func whole(resp *http.Response, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fault.New(fault.Exhausted, "client", "the server's answer is longer than %d MB", most>>20).
			WithNext("ask for less at a time, or ask whoever runs the server what it sends")
	}
	return data, err
}

// welcome reads what a server answers to somebody who comes in.
func welcome(resp *http.Response, out any, secret *string) error {
	data, err := whole(resp, maxWelcome)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err == nil && *secret == "" {
		err = errors.New("it gives no token")
	}
	if err != nil {
		return fault.New(fault.Unavailable, "client", "what answers there is no tandem: %w", err).WithNext("check the address")
	}
	return nil
}

// line reads one line of a stream up to its bound.
func line(in *bufio.Reader) (string, error) {
	var text strings.Builder
	for {
		part, err := in.ReadSlice('\n')
		text.Write(part)
		if text.Len() > maxLine {
			return "", fault.New(fault.Exhausted, "client", "the server sends a line that is longer than %d MB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text.String(), err
		}
	}
}
