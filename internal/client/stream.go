package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"tandem/internal/fault"
)

// Event is one server-sent event.
type Event struct {
	ID   string
	Name string
	Data []byte
}

// Follow reads a stream of events and hands them to each until it ends, fails or ctx ends. The server sends each event's data
// on one line.
func (c *Client) Follow(ctx context.Context, path string, each func(Event) error) error {
	return c.FollowWith(ctx, path, nil, each)
}

// FollowWith is Follow with headers of the caller's.
func (c *Client) FollowWith(ctx context.Context, path string, header http.Header, each func(Event) error) error {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept", "text/event-stream")
	resp, err := c.Do(ctx, http.MethodGet, path, nil, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	var e Event
	for {
		line, err := line(in)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, io.EOF) {
				return fault.New(fault.Unavailable, "client", "the stream ended").WithNext("the server may be restarting: try again")
			}
			return c.unreachable(err)
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && e.Data != nil:
			if err := each(e); err != nil {
				return err
			}
			e = Event{}
		case field == "id":
			e.ID = value
		case field == "event":
			e.Name = value
		case field == "data":
			e.Data = []byte(value)
		}
	}
}
