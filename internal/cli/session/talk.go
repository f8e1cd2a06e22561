package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/provider"
	room "tandem/internal/session"
)

// turnsRead is of how many turns the calls are read for one conversation, newest first.
const turnsRead = 40

// diffs are what the calls of a session's turns changed in files, by the agent's own name for the call.
func diffs(ctx context.Context, k *kit.Kit, id string, turns []*room.Turn) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range turns[:min(len(turns), turnsRead)] {
		if t.Calls == 0 {
			continue
		}
		one, err := op.Do(ctx, k, room.SessionTurns, room.TurnIn{ID: id, Turn: t.ID})
		if err != nil {
			return nil, err
		}
		for _, c := range one.Calls {
			if c.Result == nil {
				continue
			}
			if d, ok := c.Result.Meta["diff"].(string); ok {
				out[c.Ref] = d
			}
		}
	}
	return out, nil
}

// talk writes a conversation: who said what, which tools were used with what, and what came of it.
func talk(w io.Writer, messages []*room.Message, diffs map[string]string) {
	last := room.Role("")
	for _, m := range messages {
		if m.Role != last && (m.Role != room.RoleTool || last == "") {
			fmt.Fprintf(w, "\n%s:\n", m.Role)
			last = m.Role
		}
		for _, b := range m.Blocks {
			fmt.Fprintln(w, blockText(b))
			if b.Kind == provider.ResultOf && diffs[b.Result.CallID] != "" {
				fmt.Fprintln(w, strings.TrimRight(diffs[b.Result.CallID], "\n"))
			}
		}
	}
}

func blockText(b provider.Block) string {
	switch b.Kind {
	case provider.CallKind:
		return callText(b.Call.Name, b.Call.Args)
	case provider.ResultOf:
		if b.Result.Error {
			return "✗ " + strings.TrimSpace(b.Result.Text)
		}
		return "← " + strings.TrimSpace(b.Result.Text)
	case provider.ImageKind:
		return "(image)"
	case provider.Reasoning:
		return "(thinking) " + b.Text
	}
	return b.Text
}

// callText is a call with its arguments as a person reads them: the only one beside the tool's name, several on lines of their own.
func callText(tool string, args json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(args, &in) != nil {
		return fmt.Sprintf("→ %s %s", tool, args)
	}
	var names []string
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 1 {
		if text := argText(in[names[0]]); !strings.Contains(text, "\n") {
			return "→ " + tool + " " + text
		}
	}
	out := "→ " + tool
	for _, name := range names {
		text := argText(in[name])
		if strings.Contains(text, "\n") {
			text = "\n    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
		}
		out += "\n  " + name + ": " + text
	}
	return out
}

func argText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
