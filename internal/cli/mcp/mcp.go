// Package mcp holds `tandem mcp`: MCP over standard input and output, as a
// pipe to the daemon. It keeps no state and holds no keys.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP over standard input and output",
		Long: "Speak MCP over standard input and output, for chat apps and coding agents that start their servers themselves. " +
			"It is a pipe to the daemon, which is started when it is absent.\n\n" +
			"Whoever calls is an agent, whatever it calls itself: the agent mcp, or one that a person made and --as names. " +
			"It acts for you and may do no more than you may without your PIN. " +
			"With --only it is offered a few tools: bridge (six, to drive sessions), space (spaces and the board, every tool of theirs with " +
			"intandem), a noun (repo, resource, session, approval …) or tools by their names, with commas between them.\n\n" +
			"With --channel, messages of a space are announced as channel notifications; Claude Code takes them only when it was started with " +
			"that channel, and does not say whether it did, so they are never the only way.",
		Example: "  tandem mcp --only bridge\n  claude mcp add tandem -- tandem mcp --only bridge,space\n  tandem mcp --as " +
			"builder --only repo,resource",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := k.Client(cmd.Context())
			if err != nil {
				return err
			}
			if o.as != "" && k.SessionSocket() != "" {
				return fault.New(fault.Denied, "mcp", "this runs inside a session, which is who it is").
					WithNext("open the session as that agent: tandem session open --as NAME")
			}
			return pipe(cmd.Context(), c, k.In, k.Out, o)
		},
	}
	cmd.Flags().BoolVar(&o.channel, "channel", false, "also announce messages of a space as channel notifications")
	cmd.Flags().StringVar(&o.as, "as", "", "the agent to act as, one that a person made")
	cmd.Flags().StringVar(&o.only, "only", "", "the tools to offer: bridge, space, a noun, or names of tools, with commas between them")
	return []*cobra.Command{cmd}
}

// options are who calls, and what it is offered.
type options struct {
	channel  bool
	as, only string
}

// acts is what the daemon is told of who calls.
func (o options) acts() string {
	if o.as == "" {
		return "agent"
	}
	return "agent:" + strings.TrimPrefix(o.as, "agent:")
}

// path is where messages go.
func (o options) path() string {
	if o.only == "" {
		return "/mcp"
	}
	return "/mcp?only=" + url.QueryEscape(o.only)
}

// pipe carries one JSON-RPC message a line to the daemon, each in its own
// request, and whatever comes back to standard output.
func pipe(ctx context.Context, c *client.Client, in io.Reader, out io.Writer, o options) error {
	var mu sync.Mutex
	write := func(msg []byte) {
		mu.Lock()
		defer mu.Unlock()
		out.Write(append(bytes.TrimSpace(msg), '\n'))
	}
	plain := write
	var flying sync.WaitGroup
	defer flying.Wait()
	// Two agents of one user run two of these pipes; the daemon tells them
	// apart by this.
	self := fmt.Sprintf("%d.%d.%s", os.Getpid(), os.Getppid(), rand.Text())
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	about := client.About{ID: self, Folder: folder, As: o.acts()}
	c = c.WithClient(about)
	telling, end := context.WithCancel(ctx)
	defer end()
	arriving := readLines(telling, in)
	for {
		var next arrival
		select {
		case next = <-arriving:
		case <-ctx.Done(): // Ctrl-C: whoever started it has no more to say
			return nil
		}
		line, err := bytes.TrimSpace(next.line), next.err
		if len(line) > 0 {
			now := about
			now.Agent, now.Model = orElse(agentName(line), about.Agent), orElse(modelOf(line, os.Getenv), about.Model)
			if now != about {
				about = now
				c = c.WithClient(about)
			}
			c, write := c, write
			if o.channel && method(line) == "initialize" {
				write = func(msg []byte) { plain(withChannel(msg)) }
			}
			if o.channel && method(line) == "notifications/initialized" {
				go announce(telling, c, plain)
			}
			flying.Go(func() { carry(ctx, c, o.path(), line, write) })
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// arrival is a line of standard input, or why there are no more.
type arrival struct {
	line []byte
	err  error
}

// readLines reads in the background: a read of a terminal cannot be called off.
func readLines(ctx context.Context, in io.Reader) <-chan arrival {
	out := make(chan arrival)
	go func() {
		lines := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := lines.ReadBytes('\n')
			select {
			case out <- arrival{line, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func carry(ctx context.Context, c *client.Client, path string, line []byte, write func([]byte)) {
	var msg struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if !json.Valid(line) {
		write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is not JSON"}}`))
		return
	}
	_ = json.Unmarshal(line, &msg) // what is no message, the daemon refuses
	h := http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	if v := msg.Params.Meta.Version; v != "" { // the stateless revision mirrors these in headers
		h.Set("Mcp-Protocol-Version", v)
		h.Set("Mcp-Method", msg.Method)
		if msg.Params.Name != "" {
			h.Set("Mcp-Name", msg.Params.Name)
		}
	}
	resp, err := c.Do(ctx, http.MethodPost, path, bytes.NewReader(line), h)
	if err != nil {
		if len(msg.ID) > 0 && fault.KindOf(err) != fault.Pending {
			write(rpcError(msg.ID, err))
		}
		return
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if data, err := io.ReadAll(resp.Body); err == nil && len(bytes.TrimSpace(data)) > 0 {
			write(data)
		}
		return
	}
	events := bufio.NewReader(resp.Body)
	answered := false
	for {
		event, err := events.ReadString('\n')
		if data, ok := strings.CutPrefix(event, "data:"); ok && strings.TrimSpace(data) != "" {
			write([]byte(data))
			answered = true
		}
		if err != nil {
			if !answered && len(msg.ID) > 0 {
				write(rpcError(msg.ID, err))
			}
			return
		}
	}
}

func rpcError(id json.RawMessage, err error) []byte {
	msg, _ := json.Marshal(fmt.Sprintf("tandem: %s", err))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s}}`, id, msg)
}
