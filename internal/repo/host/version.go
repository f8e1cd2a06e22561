package host

import (
	"encoding/json"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// heads is the file that keeps the version between runs. It is a hint: the
// operation heads on disk are the truth, and a watcher that has seen a later
// version than the file knows pushes it ahead.
type heads struct {
	Version int64  `json:"version"`
	Head    string `json:"head"`
}

func (s *served) headsFile() string {
	return filepath.Join(s.store.Dir(), "tandem", "heads.json")
}

// remember takes note of where the head is. The caller is the only one who
// moves it.
func (s *served) remember(head repo.OperationID) {
	s.state.Lock()
	defer s.state.Unlock()
	if s.version == 0 {
		var old heads
		if data, err := os.ReadFile(s.headsFile()); err == nil && json.Unmarshal(data, &old) == nil && old.Version > 0 {
			s.version = old.Version
			s.head, _ = repo.ParseOperationID(old.Head)
		}
	}
	if s.head == head {
		return
	}
	s.head = head
	s.bump(s.version + 1)
}

// bump sets the version and wakes those who wait. The caller holds state.
func (s *served) bump(version int64) {
	s.version = version
	close(s.changed)
	s.changed = make(chan struct{})
	data, err := json.Marshal(heads{s.version, s.head.Hex()})
	if err != nil {
		return
	}
	path := s.headsFile()
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil && os.WriteFile(path+".new", data, 0o644) == nil {
		os.Rename(path+".new", path)
	}
}

// now is the head, its version, and a channel that closes when they change.
func (s *served) now() (repo.OperationID, int64, <-chan struct{}) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.head, s.version, s.changed
}

// farthest is how far ahead of the version somebody can have seen one.
const farthest = 1 << 40

// behind makes the version grow past one that a watcher has seen, which can
// only be ahead when a crash lost the file or the folder was put back.
func (s *served) behind(seen int64) {
	s.state.Lock()
	defer s.state.Unlock()
	if seen > s.version && seen-s.version < farthest {
		s.bump(seen + 1)
	}
}
