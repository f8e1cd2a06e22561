package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
)

func newLogs(k *kit.Kit) *cobra.Command {
	var level string
	cmd := &cobra.Command{
		Use:     "logs",
		Short:   "Follow the server's log",
		Example: "  tandem logs\n  tandem logs --level warn\n  tandem logs --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := daemon.ParseLevel(level); err != nil {
				return kit.Usage{Err: err}
			}
			c, err := k.Running(cmd.Context())
			if client.Absent(err) {
				return fault.New(fault.Unavailable, "logs", "tandem is not running").
					WithNext("start it: tandem up; older lines are in tandem.log in the data folder")
			}
			if err != nil {
				return err
			}
			resp, err := c.Do(cmd.Context(), "GET", "/server/logs?level="+url.QueryEscape(level), nil, nil)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			lines.Buffer(nil, 4<<20)
			for lines.Scan() {
				if k.JSON {
					fmt.Fprintln(k.Out, lines.Text())
				} else {
					fmt.Fprintln(kit.Screen(k.Out), readable(lines.Bytes()))
				}
			}
			return lines.Err()
		},
	}
	cmd.Flags().StringVar(&level, "level", "", "only this level and above: trace, debug, info, warn, error")
	return cmd
}

// readable turns a JSON line of the log into one for people.
func readable(line []byte) string {
	var m map[string]any
	if json.Unmarshal(line, &m) != nil {
		return string(line)
	}
	when, _ := m["time"].(string)
	if t, err := time.Parse(time.RFC3339Nano, when); err == nil {
		when = t.Local().Format("15:04:05.000")
	}
	var rest []string
	for key, v := range m {
		if key != "time" && key != "level" && key != "msg" {
			rest = append(rest, fmt.Sprintf("%s=%v", key, v))
		}
	}
	sort.Strings(rest)
	return strings.TrimSpace(fmt.Sprintf("%s %-5v %v %s", when, m["level"], m["msg"], strings.Join(rest, " ")))
}
