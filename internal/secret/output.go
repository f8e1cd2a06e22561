package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"sync"
)

// Writer passes output on without secrets. It holds back the end of it that may
// begin a secret, and what is no whole character yet; Close passes the rest on
// (and does not close w).
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &writer{r: r, w: w} }

type writer struct {
	r  *Redactor
	w  io.Writer
	mu sync.Mutex
	// held is the end of what was written so far.
	held []byte
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, p...)
	keep := w.r.begins(string(w.held))
	if len(w.held) <= keep {
		return len(p), nil
	}
	out, used := w.r.cut(string(w.held), len(w.held)-keep, "", everyone)
	w.held = append(w.held[:0], w.held[used:]...)
	if _, err := io.WriteString(w.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := io.WriteString(w.w, w.r.String(string(w.held)))
	w.held = nil
	return err
}

// Handler is a log handler that passes records on without secrets, wherever
// in them one stands: message, key, value, group, error, or inside any value.
func (r *Redactor) Handler(h slog.Handler) slog.Handler { return handler{r, h} }

type handler struct {
	r    *Redactor
	next slog.Handler
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, h.r.String(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.r.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.r.attr(a)
	}
	return handler{h.r, h.next.WithAttrs(clean)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.r, h.next.WithGroup(h.r.String(name))}
}

func (r *Redactor) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: r.String(a.Key), Value: r.value(a.Value.Resolve())}
}

func (r *Redactor) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindGroup:
		var clean []slog.Attr
		for _, a := range v.Group() {
			clean = append(clean, r.attr(a))
		}
		return slog.GroupValue(clean...)
	case slog.KindString:
		return slog.StringValue(r.String(v.String()))
	case slog.KindAny:
		return r.any(v)
	}
	if s := v.String(); r.String(s) != s { // a number may be one too
		return slog.StringValue(r.String(s))
	}
	return v
}

// any looks at a value in each way in which a handler may print it. The first
// that shows a secret takes the value's place, redacted.
func (r *Redactor) any(v slog.Value) slog.Value {
	texts := []string{fmt.Sprintf("%v", v.Any()), fmt.Sprintf("%+v", v.Any())}
	if b, err := json.Marshal(v.Any()); err == nil {
		texts = append(texts, string(b))
	}
	if x := reflect.ValueOf(v.Any()); x.Kind() == reflect.Slice && x.Type().Elem().Kind() == reflect.Uint8 {
		texts = append([]string{string(x.Bytes())}, texts...)
	}
	for _, t := range texts {
		if clean := r.String(t); clean != t {
			return slog.StringValue(clean)
		}
	}
	return v
}
