package peer

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tandem/internal/board"
)

// A newer program says things about a task that this one does not know. It sees the task without them, and a newcomer that it lets in gets
// them as they were said: what that one's program knows of them counts there as if it had heard it itself.

// Newer is what was said about a task at one time, as far as a program did not know the words for it.
type Newer struct {
	Kind  board.Kind                 `json:"kind"`
	At    int64                      `json:"at,omitempty"`
	Words map[string]json.RawMessage `json:"words,omitempty"` // none: the task was opened again
}

// keptNewer is how much of it is kept of a task, the newest.
const keptNewer = 100

// ourWords are the fields of tasks, edits and comments that this program knows.
var ourWords = fieldsOf(EditWords{}, CommentWords{})

func fieldsOf(all ...any) map[string]bool {
	out := map[string]bool{}
	for _, one := range all {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(one)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				out[name] = true
			}
		}
	}
	return out
}

// unknown is what of an entry's words is not known, nothing where all is.
func unknown(content []byte, known map[string]bool) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(content, &out) != nil {
		return nil
	}
	maps.DeleteFunc(out, func(name string, _ json.RawMessage) bool { return known[strings.ToLower(name)] })
	return out
}

// keepNewer keeps what of an event's words this program does not know.
func (s *seat) keepNewer(ev board.Event, content []byte, at int64) {
	rest, kept := unknown(content, s.knows), s.newer[ev.Task]
	if len(rest) == 0 && (len(kept) == 0 || ev.Kind != board.KindReopen) {
		return
	}
	kept = append(slices.Clip(kept), Newer{Kind: ev.Kind, At: at, Words: rest})
	s.newer[ev.Task] = kept[max(0, len(kept)-keptNewer):]
}

// withNewer takes what a member let in of a task without knowing all of it, and keeps what is not known here either.
func (s *seat) withNewer(id board.TaskID, w TaskWords, all []Newer) TaskWords {
	for _, u := range all {
		data, err := json.Marshal(u.Words)
		if err != nil {
			continue
		}
		ev, why := board.Event{Kind: u.Kind, Task: id}, w.Reason
		w = w.said(ev, data, u.At, true)
		w.Reason = why // known to the member that let it in
		s.keepNewer(ev, data, u.At)
	}
	return w
}
