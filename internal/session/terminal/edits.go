package terminal

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tandem/internal/op"
	"tandem/internal/tool"
)

// maxEdited is how large a file may be whose change is shown as a diff, and maxEditShown how long that diff.
const (
	maxEdited    = 1 << 20
	maxEditShown = 96 << 10
)

// edits shows a program's change of a file in its folder as a diff with line numbers and what stands around it. It is only there to be
// looked at: an approval holds for the program's own arguments. Where no diff can be made, those are shown as they are.
func edits(in UseIn) []op.Bound {
	var a struct {
		Path    string `json:"file_path"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
		Content string
		All     bool `json:"replace_all"`
	}
	if json.Unmarshal(in.Input, &a) != nil || a.Path == "" {
		return nil
	}
	before, there, ok := inFolder(in.Folder, a.Path)
	if !ok {
		return nil
	}
	var after string
	var covers []string
	switch {
	case in.Tool == "Edit" && there && a.Old != "" && a.Old != a.New && strings.Contains(before, a.Old):
		if n := strings.Count(before, a.Old); n > 1 && !a.All {
			return nil // the program itself refuses that
		}
		after, covers = strings.ReplaceAll(before, a.Old, a.New), []string{"input.old_string", "input.new_string"}
	case in.Tool == "Write":
		after = a.Content
		if !there {
			covers = []string{"input.content"} // all of it is in the diff
		}
	default:
		return nil
	}
	text := tool.Unified(a.Path, before, after)
	if before == after || len(text) > maxEditShown || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil
	}
	return []op.Bound{{Name: "diff of " + a.Path, Value: text, Shown: true, Diff: true, Covers: covers}}
}

// inFolder reads a file below a folder; ok is false for what lies elsewhere, by links too, for what holds keys, and for what is no
// plain file of a bounded size.
func inFolder(folder, path string) (text string, there, ok bool) {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) || tool.Sensitive(rel) {
		return "", false, false
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", false, false
	}
	defer root.Close()
	st, err := root.Lstat(rel)
	if os.IsNotExist(err) {
		return "", false, true
	}
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxEdited {
		return "", false, false
	}
	f, err := root.Open(rel)
	if err != nil {
		return "", false, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEdited))
	return string(data), true, err == nil
}
