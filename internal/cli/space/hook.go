package space

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// event is what an agent program tells its hooks on standard input.
type event struct {
	Name       string `json:"hook_event_name"`
	Prompt     string `json:"prompt"`
	Transcript string `json:"transcript_path"`
}

// newHook is what an agent's hooks run. After SessionStart and Stop it waits
// for mail and wakes the agent with exit code 2; at UserPromptSubmit it reports
// which messages came into the conversation. It never blocks or fails a turn.
func newHook(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "hook", Short: "Wake an agent for its mail; for hooks of agent programs", Hidden: true, Args: cobra.NoArgs,
		Long:    "Read a hook's event from standard input. It is written into .claude/settings.local.json by: tandem space init --hooks",
		Example: "  tandem space hook < event.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var e event
			data, err := io.ReadAll(io.LimitReader(k.In, 4<<20))
			if err == nil {
				err = json.Unmarshal(data, &e)
			}
			if err != nil {
				return kit.Usagef("standard input is not a hook's event: %w", err)
			}
			return quiet(hook(k, cmd, e))
		}}
}

// quiet keeps a hook from disturbing an agent that is in no space, or not any
// more.
func quiet(err error) error {
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Denied) {
		return nil
	}
	return err
}

func hook(k *kit.Kit, cmd *cobra.Command, e event) error {
	up := parents()
	switch e.Name {
	case "UserPromptSubmit":
		if !peer.Names(e.Prompt) {
			return nil
		}
		_, err := op.Do(cmd.Context(), k, peer.SpaceSurfaced, peer.SurfacedIn{Texts: []string{e.Prompt}, How: "hook", Parents: up})
		return err
	case "SessionStart", "Stop":
		go report(k, cmd, e.Transcript, up)
		return watch(k, cmd, up)
	}
	return nil
}

// report tells which messages an agent took into a running turn. The program
// writes its transcript a moment after it called the hook, so it is looked at
// more than once; what a hook that ends early misses, the next one finds.
func report(k *kit.Kit, cmd *cobra.Command, transcript string, up []int) {
	told := 0
	for _, wait := range []time.Duration{0, 300 * time.Millisecond, time.Second, 4 * time.Second} {
		select {
		case <-cmd.Context().Done():
			return
		case <-time.After(wait):
		}
		texts := folded(transcript)
		if len(texts) == told {
			continue
		}
		_, err := op.Do(cmd.Context(), k, peer.SpaceSurfaced, peer.SurfacedIn{Texts: texts, How: "transcript", Parents: up})
		if err == nil {
			told = len(texts)
		}
	}
}

// watch waits until there is mail, a newer hook took its place, or the agent
// has ended. An agent that joins a space later is waited for too.
func watch(k *kit.Kit, cmd *cobra.Command, up []int) error {
	// An agent that ends leaves its hooks running; one that went on would take
	// the next message and tell it to nobody.
	ctx, ended := context.WithCancel(cmd.Context())
	defer ended()
	go hangup(ctx, ended)
	for {
		out, err := op.Do(ctx, k, peer.SpaceWait, peer.WaitIn{Seconds: 60, Parents: up})
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && out.Text != "":
			fmt.Fprintln(k.Err, out.Text)
			return kit.Silent{Code: 2}
		case err == nil && out.State == "superseded", os.Getppid() == 1:
			return nil
		case err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Unavailable):
			return err
		case err != nil:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(2 * time.Second):
			}
		}
	}
}

// parents are the processes above this one, nearest first; where they cannot be
// read, the one above alone.
func parents() []int {
	out := []int{os.Getppid()}
	for len(out) < 12 {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(out[len(out)-1]) + "/stat")
		if err != nil {
			return out
		}
		// the name in brackets may hold anything; what counts follows the last one
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(fields) < 2 {
			return out
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil || n <= 1 {
			return out
		}
		out = append(out, n)
	}
	return out
}

// folded are the texts that an agent took into a running turn, for which no
// prompt hook fires: lines of the transcript's end with a queued_command.
func folded(path string) []string {
	if path == "" || !filepath.IsAbs(path) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	const tail = 512 << 10
	if st, err := f.Stat(); err == nil && st.Size() > tail {
		if _, err := f.Seek(-tail, io.SeekEnd); err != nil {
			return nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, tail))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.Contains(line, `"queued_command"`) && peer.Names(line) {
			out = append(out, line)
		}
	}
	return out
}
