package replica

import (
	"net/url"

	"tandem/internal/repo/exchange"
)

// said is what the server had to say to a workspace: the last word that came, and
// those that nobody has been shown yet.
type said struct {
	Last  string          `json:"last"`
	Words []exchange.Word `json:"words,omitempty"`
}

func (r *Replica) saidFile() string { return r.path("heard-" + url.PathEscape(r.Workspace) + ".json") }

func (r *Replica) said() (said, error) { return readHint[said](r.saidFile()) }

// hear keeps words until a command shows them: a sync may be the daemon's.
func (r *Replica) hear(s said, words []exchange.Word) error {
	if len(words) == 0 {
		return nil
	}
	s.Words = append(s.Words, words...)
	s.Last = words[len(words)-1].ID
	return writeHint(r.saidFile(), s)
}

// Heard gives the words that were not shown yet, once.
func (r *Replica) Heard() ([]string, error) {
	s, err := r.said()
	if err != nil || len(s.Words) == 0 {
		return nil, err
	}
	var out []string
	for _, w := range s.Words {
		out = append(out, w.Text)
	}
	return out, writeHint(r.saidFile(), said{Last: s.Last})
}
