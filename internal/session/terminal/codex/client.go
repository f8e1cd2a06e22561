package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// client speaks JSON-RPC with an app-server: it asks, is asked, and is told.
type client struct {
	ws     *socket
	notice func(method string, params json.RawMessage)
	asked  func(id json.RawMessage, method string, params json.RawMessage)

	mu      sync.Mutex
	next    int
	waiting map[string]chan message
	gone    chan struct{}
	why     error
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

// rpcError is a refusal by the server.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// answerIn is how long the server is given. Some requests are never answered, so every one has an end.
const answerIn = 10 * time.Second

// maxSocketPath is what a socket's address can hold everywhere.
const maxSocketPath = 100

var errGone = errors.New("the app-server is gone")

func dial(ctx context.Context, path string) (*client, error) {
	var d net.Dialer
	if len(path) > maxSocketPath { // reached through its folder, which Linux lets us name by a number
		folder, err := os.Open(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		path = fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path))
	}
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	ws, err := upgrade(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &client{ws: ws, waiting: map[string]chan message{}, gone: make(chan struct{})}, nil
}

// serve reads until the connection ends. Everything is handed on in the order in which it came.
func (c *client) serve() {
	for {
		data, err := c.ws.read()
		if err != nil {
			c.mu.Lock()
			c.why = err
			c.mu.Unlock()
			close(c.gone)
			c.ws.conn.Close()
			return
		}
		var m message
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		switch {
		case m.Method != "" && len(m.ID) > 0:
			c.asked(m.ID, m.Method, m.Params)
		case m.Method != "":
			c.notice(m.Method, m.Params)
		default:
			c.mu.Lock()
			w := c.waiting[string(m.ID)]
			delete(c.waiting, string(m.ID))
			c.mu.Unlock()
			if w != nil {
				w <- m
			}
		}
	}
}

// call asks the server and waits for its answer.
func (c *client) call(ctx context.Context, method string, params, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	p, err := json.Marshal(params)
	if err != nil {
		return err
	}
	w := make(chan message, 1)
	c.mu.Lock()
	c.next++
	id := strconv.Itoa(c.next)
	c.waiting[id] = w
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.send(message{ID: json.RawMessage(id), Method: method, Params: p}); err != nil {
		return err
	}
	select {
	case m := <-w:
		if m.Error != nil {
			return m.Error
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(m.Result, out)
	case <-c.gone:
		return errGone
	case <-ctx.Done():
		return fmt.Errorf("%s was not answered: %w", method, ctx.Err())
	}
}

func (c *client) send(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.ws.write(frameText, data)
}

// answer replies to a request of the server's.
func (c *client) answer(id json.RawMessage, result any) error {
	r, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return c.send(message{ID: id, Result: r})
}

func (c *client) close() { c.ws.conn.Close() }
