package server

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/qr"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/server/wire"
)

// phoneSet is what phone set answers: the topic is shown to whoever typed it, once.
type phoneSet struct {
	wire.PhoneOut
	Topic string `json:"topic,omitempty"`
	Link  string `json:"subscribe,omitempty"`
}

func newPhone(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "phone", Short: "Have your phone told when something waits for you", Args: cobra.NoArgs,
		Long: "Have your phone told, by the app ntfy, when an agent asks, has a question, crashes or is done. " +
			"What is told by default is the session's name and the kind, no more.",
		Example: "  tandem phone set\n  tandem phone off",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var (
		address string
		another bool
	)
	set := &cobra.Command{Use: "set [TOPIC]", Short: "Name your phone's topic of ntfy, or let one be made; needs your PIN",
		Args: cobra.MaximumNArgs(1),
		Long: "Tell your phone by ntfy (ntfy.sh, an app without an account) when something waits for you. A topic is made unless you name one: " +
			"whoever knows it reads what is told, so it is sealed. A first notice is sent before anything is kept. " +
			"Said again it sends another notice and leaves the topic as it is; --new makes another one. " +
			"With --address notices link to the page where you answer.",
		Example: "  tandem phone set\n  tandem phone set --address https://house.example:39731\n  tandem phone set --new",
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := op.Do(cmd.Context(), k, wire.ServerStatus, identity.Nothing{})
			if err != nil {
				return err
			}
			in := wire.PhoneIn{Address: address}
			switch {
			case len(args) == 1:
				in.Topic = args[0]
			case another || !tells(st.Told, "ntfy"):
				in.Topic = identity.NewSecret("tandem-")
			}
			done, err := op.Do(cmd.Context(), k, wire.PhoneSet, in)
			if err != nil {
				return err
			}
			out := phoneSet{PhoneOut: done, Topic: in.Topic}
			if in.Topic != "" {
				out.Link = strings.TrimSuffix(done.Server, "/") + "/" + in.Topic
			}
			return k.Show(out, func(w io.Writer) { out.tell(w, k.Terminal()) })
		}}
	set.Flags().StringVar(&address, "address", "", "the panel's address as your phone reaches it")
	set.Flags().BoolVar(&another, "new", false, "make another topic, which your phone then subscribes to instead")
	off := &cobra.Command{Use: "off", Short: "Tell your phone nothing more; needs your PIN", Args: cobra.NoArgs,
		Long: "Tell your phone nothing more, and forget its topic.", Example: "  tandem phone off",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.PhoneOff, identity.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, "your phone is told nothing more") })
		}}
	cmd.AddCommand(set, off)
	return cmd
}

func (s phoneSet) tell(w io.Writer, terminal bool) {
	if s.Topic != "" {
		fmt.Fprintf(w, "In the app ntfy, subscribe to %s; its first notice is there\n", s.Link)
		if drawn, err := qr.Encode(s.Link); err == nil && terminal {
			fmt.Fprint(w, drawn.Lines())
		}
	} else {
		fmt.Fprintln(w, "A notice was sent to the topic that there is, which is sealed and not shown again")
		fmt.Fprintln(w, "next:  if your phone did not show it, subscribe to another one: tandem phone set --new")
	}
	if s.Address != "" {
		fmt.Fprintf(w, "Notices lead to %s\n", s.Address)
		return
	}
	fmt.Fprintln(w, "Notices have no link, because the panel has no address that a phone reaches.\n"+
		"next:  serve the panel beyond this machine, as docs/panel.md says, then name it: tandem phone set --address https://HOST:PORT")
}

// tells says whether people hear on that way.
func tells(ways []wire.Told, way string) bool {
	for _, t := range ways {
		if t.Way == way {
			return true
		}
	}
	return false
}
