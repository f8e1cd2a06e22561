package agents

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/session/screen"
)

// Entry is a line of a transcript that tells something about a turn.
type Entry struct {
	ID   string
	At   time.Time
	Kind EntryKind
	Text string // what was said, asked or shown
	// Failure is the program's word for what went wrong, on Failed.
	Failure string
	Model   string
	Tokens  struct{ Input, Output, CacheRead, CacheWrite int64 }
	Message string // several lines may be pieces of one message
	// On Prompted: the program's name for the prompt, and that it waited behind a turn. Its end carries the name.
	PromptID string
	Waited   bool
	// On Acted: the tool that was used, or what came of it.
	Act *Act
}

// EntryKind is what a line tells.
type EntryKind string

// The kinds that matter here. Others are skipped.
const (
	Prompted    EntryKind = "prompted"    // a prompt was taken
	Said        EntryKind = "said"        // the agent said something
	Failed      EntryKind = "failed"      // the model's provider failed for good
	Interrupted EntryKind = "interrupted" // somebody stopped the turn
	Ended       EntryKind = "ended"       // the turn ended by itself
	Shown       EntryKind = "shown"       // a local command printed something
	Queued      EntryKind = "queued"      // a prompt was put behind the running turn
	Acted       EntryKind = "acted"       // a tool was used, or its use came to an end
)

// Transcript reads a conversation's file from where it stopped.
type Transcript struct {
	Path   string
	Offset int64
	// Root is the folder that the file lies in whatever links say, where an agent can make some.
	Root string
}

func (t *Transcript) open() (*os.File, error) {
	if t.Root == "" {
		return os.Open(t.Path)
	}
	rel, err := filepath.Rel(t.Root, t.Path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if st, err := root.Lstat(rel); err != nil || !st.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return root.Open(rel)
}

// Begun reports whether the file holds a prompt or an answer. Before the first one is written it has only notes of the program to itself,
// and the program finds no conversation in them.
func (t *Transcript) Begun() bool {
	f, err := t.open()
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // what cannot be read now may be one, and is not given up for that
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		for _, e := range entriesOf(lines.Bytes()) {
			if e.Kind == Prompted || e.Kind == Said || e.Kind == Acted {
				return true
			}
		}
	}
	return lines.Err() != nil // a line that is too long is a tool's output
}

// maxLine bounds a line that is parsed; longer ones hold tool output, not words.
const maxLine = 16 << 20

// Next reads the whole lines that were added.
func (t *Transcript) Next() ([]Entry, error) {
	if t.Path == "" {
		return nil, nil
	}
	f, err := t.open()
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() <= t.Offset {
		return nil, err
	}
	if _, err := f.Seek(t.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, 4*maxLine))
	if err != nil {
		return nil, err
	}
	var out []Entry
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return out, nil // a line that is still being written is read next time
		}
		if i <= maxLine {
			out = append(out, entriesOf(data[:i])...)
		}
		t.Offset += int64(i) + 1
		data = data[i+1:]
	}
}

type line struct {
	Type        string    `json:"type"`
	Subtype     string    `json:"subtype"`
	UUID        string    `json:"uuid"`
	Timestamp   time.Time `json:"timestamp"`
	Sidechain   bool      `json:"isSidechain"`
	Meta        bool      `json:"isMeta"`
	APIError    bool      `json:"isApiErrorMessage"`
	Error       string    `json:"error"`
	Interrupted string    `json:"interruptedMessageId"`
	Operation   string    `json:"operation"`
	Prompt      string    `json:"promptId"`
	Source      string    `json:"promptSource"`
	Content     any       `json:"content"`
	// Result is what the program notes of a tool's outcome beside what the model gets.
	Result  json.RawMessage `json:"toolUseResult"`
	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   struct {
			Input      int64 `json:"input_tokens"`
			Output     int64 `json:"output_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// entriesOf are what a line tells: words first, then the tools that were used.
func entriesOf(data []byte) []Entry {
	var l line
	if json.Unmarshal(data, &l) != nil || l.Sidechain {
		return nil
	}
	text, blocks := texts(l.Message.Content)
	if l.Type == "assistant" && l.Message.Model == "<synthetic>" && !l.APIError {
		return nil // what the program puts in for a reply that never came, when it resumes
	}
	var out []Entry
	if e, ok := l.words(text, blocks); ok {
		out = append(out, e)
	}
	if l.Type != "assistant" && l.Type != "user" || l.APIError {
		return out
	}
	for _, a := range acts(blocks, l.Result) {
		e := l.entry()
		e.Kind, e.ID, e.Act = Acted, "", &a
		out = append(out, e)
	}
	return out
}

// entry is what every line says of itself.
func (l line) entry() Entry {
	e := Entry{ID: l.UUID, At: l.Timestamp, Message: l.Message.ID, Model: l.Message.Model}
	u := l.Message.Usage
	e.Tokens.Input, e.Tokens.Output, e.Tokens.CacheRead, e.Tokens.CacheWrite = u.Input, u.Output, u.CacheRead, u.CacheWrite
	return e
}

func (l line) words(text string, blocks []block) (Entry, bool) {
	e := l.entry()
	results := slices.ContainsFunc(blocks, func(b block) bool { return b.Type == "tool_result" })
	switch {
	case l.Type == "assistant" && l.APIError:
		e.Kind, e.Text, e.Failure = Failed, text, l.Error
	case l.Type == "assistant" && text != "":
		e.Kind, e.Text = Said, text
	case l.Type == "user" && strings.HasPrefix(text, "[Request interrupted by user"):
		e.Kind = Interrupted
	case l.Type == "user" && !l.Meta && !results && text != "":
		e.Kind, e.Text, e.PromptID, e.Waited = Prompted, Unwrapped(text), l.Prompt, l.Source == "queued"
	case l.Type == "system" && l.Subtype == "turn_duration":
		e.Kind = Ended
	case l.Type == "system" && l.Subtype == "local_command":
		e.Kind = Shown
		e.Text, _ = l.Content.(string)
	case l.Type == "queue-operation" && l.Operation == "enqueue":
		e.Kind = Queued
		e.Text, _ = l.Content.(string)
	default:
		return Entry{}, false
	}
	return e, true
}

// texts joins the texts of a message's content, which is a string or a list of blocks.
func texts(raw json.RawMessage) (text string, blocks []block) {
	if json.Unmarshal(raw, &text) == nil || json.Unmarshal(raw, &blocks) != nil {
		return text, nil
	}
	var all []string
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n"), blocks
}

// Local is what a local command printed, without the marks around it.
func Local(text string) string {
	for _, mark := range []string{"local-command-stdout", "local-command-stderr"} {
		if _, rest, ok := strings.Cut(text, "<"+mark+">"); ok {
			inner, _, _ := strings.Cut(rest, "</"+mark+">")
			return strings.TrimSpace(screen.Plain(inner))
		}
	}
	return ""
}
