// Package bookmark shows, from a journal and a repository alone, that a branch only ever stood at commits whose checks passed on exactly
// their files. It knows nothing of the rooms that write these: it reads entries of the journal as they are exported, and asks git.
package bookmark

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// Entry is what is read of an entry of the journal.
type Entry struct {
	Seq      int64           `json:"seq"`
	Type     string          `json:"type"`
	Resource string          `json:"resource"`
	Payload  json.RawMessage `json:"payload"`
}

// Read reads entries, one on a line.
func Read(from io.Reader) (out []Entry, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		out = append(out, e)
	}
	return out, lines.Err()
}

// ran is a run of a check.
type ran struct {
	Commit  string `json:"commit"`
	Command string `json:"command"`
	Copies  string `json:"copies"`
	Verdict string `json:"verdict"`
}

// landed is what the journal had said when it called a job merged: what was checked later did not let it in.
type landed struct {
	commit   string
	last     map[[2]string]string // verdicts, by files and command
	commands []string
}

// Repository is a git repository, with the environment in which git is asked.
type Repository struct {
	Path string
	Env  []string
}

func (r Repository) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", r.Path}, args...)...)
	cmd.Env = append(slices.Clone(r.Env), "GIT_NO_REPLACE_OBJECTS=1")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (r Repository) holds(later, earlier string) bool {
	_, err := r.git("merge-base", "--is-ancestor", earlier, later)
	return err == nil
}

// Verdict is what became of a look: where the branch stood, and what is wrong.
type Verdict struct {
	Places, Jobs int // after the first place; jobs that came with these
	Wrong        []string
}

// Judge looks at every place at which a branch stood after its first, by its reflog. Each has to have come with jobs that the journal calls
// merged, and each of these with a run of its check that was green on a commit with exactly the files of that place, and was the last
// one there before the merge. Nothing is taken from what a job says of itself.
func Judge(entries []Entry, r Repository, branch string) (v Verdict, err error) {
	log, err := r.git("reflog", "show", "--format=%H", "refs/heads/"+branch)
	if err != nil {
		return v, fmt.Errorf("the branch has no reflog: %w", err)
	}
	places := strings.Fields(log)
	slices.Reverse(places)
	trees := map[string]string{}
	tree := func(commit string) string {
		if trees[commit] == "" {
			if trees[commit], err = r.git("rev-parse", "--verify", commit+"^{tree}"); err != nil {
				trees[commit] = "gone " + commit
			}
		}
		return trees[commit]
	}
	last, commands, merged := map[[2]string]string{}, map[string][]string{}, map[string]landed{}
	for _, e := range entries {
		for _, one := range runs(e) {
			if one.Copies == "base" { // other files than the commit's
				continue
			}
			last[[2]string{tree(one.Commit), one.Command}] = one.Verdict
			if e.Type == "job.moved" && !slices.Contains(commands[e.Resource], one.Command) {
				commands[e.Resource] = append(commands[e.Resource], one.Command)
			}
		}
		var said struct {
			State  string `json:"state"`
			From   string `json:"from"`
			Commit string `json:"commit"`
		}
		if e.Type == "job.moved" && json.Unmarshal(e.Payload, &said) == nil && said.State == "merged" && said.From != "merged" {
			merged[e.Resource] = landed{said.Commit, maps.Clone(last), slices.Clone(commands[e.Resource])}
		}
	}
	for i := 1; i < len(places); i++ {
		was, is := places[i-1], places[i]
		v.Places++
		came := 0
		for job, at := range merged {
			if at.commit == "" || !r.holds(is, at.commit) || r.holds(was, at.commit) {
				continue
			}
			came++
			v.Jobs++
			if len(at.commands) == 0 {
				v.Wrong = append(v.Wrong, fmt.Sprintf("%.12s came with %s, which nothing checked", is, job))
			}
			for _, c := range at.commands {
				if got := at.last[[2]string{tree(is), c}]; got != "green" {
					v.Wrong = append(v.Wrong, fmt.Sprintf("%.12s came with %s, whose check %q was %q on these files", is, job, c, got))
				}
			}
		}
		if came == 0 {
			v.Wrong = append(v.Wrong, fmt.Sprintf("the branch was moved from %.12s to %.12s, and the journal has no job for it", was, is))
		}
	}
	slices.Sort(v.Wrong)
	return v, nil
}

// runs are the checks that an entry tells of.
func runs(e Entry) (out []ran) {
	var one struct {
		Evidence *ran `json:"evidence"`
	}
	var several struct {
		Evidence []ran `json:"evidence"`
	}
	switch {
	case e.Type == "job.moved" && json.Unmarshal(e.Payload, &one) == nil && one.Evidence != nil:
		return []ran{*one.Evidence}
	case e.Type == "queue.train" && json.Unmarshal(e.Payload, &several) == nil:
		return several.Evidence
	}
	return nil
}
