package lists

import (
	"fmt"
	"strings"
	"testing"
)

// Tasks come in the order in which they can be done, with what they wait for and how urgent they are; what is done already stays away.
func TestTasksFromElsewhere(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"github": {`[{"number":3,"title":"Ship","body":"Depends on #2 and #1, blocked by #9 and #2","state":"OPEN","labels":[{"name":"P0"}]},
			{"number":2,"title":"Test","body":"","state":"open","labels":[{"name":"priority: low"},{"name":"area/x"}]},
			{"number":1,"title":"Done","state":"closed"},{"number":4,"title":"A pull","state":"open","pull_request":{}}]`,
			"#2 Test (low)[area/x] after []; #3 Ship (critical)[] after [#2]"},
		"beads": {`{"id":"bd-2","title":"Two","priority":9,"dependencies":[{"depends_on_id":"bd-1","type":"blocks"},{"depends_on_id":"bd-3"}]}
{"id":"bd-1","title":"One","priority":0,"status":"open","labels":["a"]}

{"id":"bd-3","title":"Three","status":"closed"}`, "bd-1 One (critical)[a] after []; bd-2 Two (low)[] after [bd-1]"},
		"markdown": {"# Todo\n- [ ] over\n  - [ ] under\n  - [x] ticked\n    - [ ] below that\n* [ ] other\r\n- no box\n",
			"line 3 under ()[] after [] of line 2; line 5 below that ()[] after []; line 6 other ()[] after []; line 2 over ()[] after [line 3]"},
	} {
		tasks, err := Read([]byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, k := range tasks {
			said := fmt.Sprintf("%s %s (%s)%v after %v of %s", k.Ref, k.Title, k.Priority, k.Labels, k.After, k.Parent)
			got = append(got, strings.TrimSuffix(said, " of "))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, s, c.want)
		}
	}
	for name, file := range map[string]string{"nothing": "hello", "broken": "{\"id\": 3", "no issues": `[{"number":"x"}]`,
		"a circle": `[{"number":1,"title":"a","body":"blocked by #2"},{"number":2,"title":"b","body":"blocked by #1"}]`} {
		if tasks, err := Read([]byte(file)); err == nil {
			t.Errorf("%s: %v", name, tasks)
		}
	}
}
