package job

import (
	"testing"

	"tandem/internal/db"
	"tandem/internal/job/wire"
)

// A team's word stops a job that goes on by itself, also one in the queue; one that waits for a person's look, or that a person stopped,
// is left to that person.
func TestATeamsWordStopsAJob(t *testing.T) {
	s := newStation(t)
	for name, c := range map[string]struct {
		state wire.State
		by    string
		held  bool
		after wire.State
	}{
		"queued":  {wire.Queued, "", true, wire.Stopped},
		"working": {wire.Working, "", true, wire.Stopped},
		"review":  {wire.Review, "", false, wire.Review},
		"persons": {wire.Stopped, "ann", false, wire.Stopped},
		"again":   {wire.Stopped, "team_1", true, wire.Stopped},
	} {
		s.add(name, "true", map[string]string{name + ".txt": "x"})
		id := "job_" + name
		if err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := s.change(tx, "t", id, func(j *Job) error { j.State, j.StoppedBy = c.state, c.by; return nil })
			return err
		}); err != nil {
			t.Fatal(err)
		}
		held, err := s.Halt(t.Context(), "t", id, "team_1", "its team is stopped")
		if j := s.read(id); err != nil || held != c.held || j.State != c.after {
			t.Errorf("%s: held %v, it is %s: %v", name, held, j.State, err)
		}
	}
	if held, err := s.Halt(t.Context(), "t", "job_gone", "team_1", "x"); held || err != nil {
		t.Errorf("one that is gone: %v %v", held, err)
	}
}
