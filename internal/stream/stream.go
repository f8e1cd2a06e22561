// Package stream writes server-sent events: one writer for every door that sends them.
package stream

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Beat is how long a stream is silent at most: what stands between the two ends takes a silent one for dead.
const Beat = 15 * time.Second

// patience is how long a reader may take nothing. After that it is gone.
const patience = 30 * time.Second

// Out is a stream to one reader. Each write is one piece: some readers lose an event that comes in two.
type Out struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

// Open says that the answer is a stream, which nobody on the way is to hold back.
func Open(w http.ResponseWriter) *Out {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	return &Out{w, http.NewResponseController(w)}
}

// Write sends a text that is written as events are.
func (o *Out) Write(text string) error {
	if err := o.out.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.out.Flush()
}

// Comment sends what readers pass over.
func (o *Out) Comment(text string) error { return o.Write(": " + text + "\n\n") }

// Beat says that the stream lives.
func (o *Out) Beat() error { return o.Comment("still here") }

// Event sends one event.
func (o *Out) Event(id, name string, data []byte) error { return o.Write(Event(id, name, data)) }

// Event is an event as it is written; without an id a reader keeps its place, without a name it is a message.
func Event(id, name string, data []byte) (text string) {
	if id != "" {
		text = "id: " + id + "\n"
	}
	if name != "" {
		text += "event: " + name + "\n"
	}
	return text + fmt.Sprintf("data: %s\n\n", data)
}
