package compat_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/testenv"
)

// A routine is a prompt with a clock: stored switched off, switched on by a person, and each time it works is a run, which the clients
// find with the other runs and by the routine.
func TestARoutineIsAScheduledPrompt(t *testing.T) {
	e := start(t)
	made := e.ask(t, 200, "POST", "/routines", fields{"name": "Morning", "schedule": "0 7 * * *", "prompt": "Say good morning"})
	if at(made, "routine", "id") != "morning" || at(made, "routine", "status") != "disabled" {
		t.Fatalf("%v", made)
	}
	e.ask(t, 409, "POST", "/routines/morning/run_now", fields{})
	person := client.Socket(filepath.Join(e.home, ".tandem", "tandem.sock")).WithPIN(pin)
	on := fields{"name": "morning", "digest": e.ask(t, 200, "GET", "/automation/morning", nil)["latest"]}
	if err := person.Call(t.Context(), "automation.on", on, nil); err != nil {
		t.Fatal(err)
	}
	if status := at(e.ask(t, 200, "GET", "/routines/morning", nil), "routine", "status"); status != "enabled" {
		t.Errorf("it is %v", status)
	}
	list, _ := e.ask(t, 200, "GET", "/routines", nil)["routines"].([]any)
	if !strings.Contains(ids(list, "id"), "morning") {
		t.Errorf("it is not listed: %v", list)
	}
	run, _ := e.ask(t, 200, "POST", "/routines/morning/run_now", fields{})["run_id"].(string)
	testenv.Eventually(t, "its run ends", time.Minute, func() bool {
		status := e.ask(t, 200, "GET", "/routines/runs/"+run, nil)["status"]
		return status == "succeeded" || status == "failed"
	})
	one := e.ask(t, 200, "GET", "/routines/runs/"+run, nil)
	if one["status"] != "succeeded" || one["routine_id"] != "morning" {
		t.Errorf("%v", one)
	}
	for _, path := range []string{"/routines/morning/runs", "/routines/runs?routine_id=morning", "/automations/v2/runs"} {
		runs, _ := e.ask(t, 200, "GET", path, nil)["runs"].([]any)
		if !strings.Contains(ids(runs, "run_id"), run) {
			t.Errorf("%s lacks %s", path, run)
		}
	}
}

func ids(list []any, name string) string {
	var out []string
	for _, one := range list {
		id, _ := at(one, name).(string)
		out = append(out, id)
	}
	return strings.Join(out, " ")
}
