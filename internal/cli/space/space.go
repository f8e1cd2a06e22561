// Package space holds the commands of spaces: rooms in which agents and people
// work together.
package space

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use:   "space",
		Short: "Rooms in which agents and people work together, sealed end to end",
		Long: "A space has members, messages, variables, path leases and a task board (tandem board). " +
			"Everything in it is sealed on the members' machines; the host keeps order and cannot read it.",
	}
	cmd.AddCommand(newCreate(k), newJoin(k), newRejoin(k), newLeave(k), newList(k), newInvite(k), newRevoke(k), newRemove(k),
		newSend(k), newInbox(k), newReceipt(k), newShare(k), newSet(k), newUnset(k), newGet(k), newLog(k), newPeers(k),
		newReserve(k), newRelease(k), newPhrase(k), newVerify(k), newWhoami(k), newRename(k), newInit(k), newWait(k), newHook(k), newTakeOver(k),
		newGuard(k), newAttachment(k))
	for _, c := range cmd.Commands() {
		if !apart[c.Name()] {
			Choose(c)
		}
	}
	return []*cobra.Command{cmd}
}

// Say runs an operation whose answer has a text, and prints that.
func Say[In, Out any](k *kit.Kit, cmd *cobra.Command, act op.Def[In, Out], in In) error {
	in, err := Chosen(k, cmd, in)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := k.Call(cmd.Context(), string(act), in, &raw); err != nil {
		return Spoken(err)
	}
	var said peer.Said
	if err := json.Unmarshal(raw, &said); err != nil {
		return fmt.Errorf("read the answer of %s: %w", act, err)
	}
	if said.Space != "" && cmd.Flags().Lookup("space") != nil {
		fmt.Fprintf(k.Err, "In the space %s; you are in others, too: --space NAME\n", plain(said.Space))
	}
	return k.Show(raw, func(w io.Writer) { fmt.Fprintln(w, answer(string(act), plain(said.Text))) })
}

// plain undoes the escaping that is for models, and keeps a terminal safe from
// what peers wrote.
func plain(s string) string {
	return kit.Visible(strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(s))
}

func simple[In, Out any](k *kit.Kit, use, short, example string, act op.Def[In, Out]) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return Say(k, cmd, act, *new(In)) }}
}

func one[In, Out any](k *kit.Kit, use, short, example string, act op.Def[In, Out], in func(arg string) In) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return Say(k, cmd, act, in(args[0])) }}
}

func newCreate(k *kit.Kit) *cobra.Command {
	var in peer.CreateIn
	var token string
	cmd := &cobra.Command{Use: "create [NAME]", Short: "Create a space and get an invite code",
		Long: "Create a space. This machine hosts it, or with --host a tandem server does, which keeps its order and cannot read it: " +
			"good when the members' machines come and go, or cannot be reached.",
		Example: "  tandem space create fix-auth-bug\n  tandem space create fix-auth-bug --host build.example.org:39731",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Name = args[0]
			}
			if in.Host != "" {
				a, err := client.ParseAddress(in.Host)
				if err == nil && !a.Local {
					_, err = k.Enter(cmd.Context(), a, token, "")
				}
				if err != nil {
					return err
				}
				in.Host, _, _ = strings.Cut(in.Host, "#")
			}
			return Say(k, cmd, peer.SpaceCreate, in)
		}}
	cmd.Flags().StringVar(&in.Host, "host", "",
		"HOST:PORT of a tandem server that hosts it, with #INVITE behind when it gave one (this machine)")
	announced(cmd, &in.Capabilities)
	cmd.Flags().StringVar(&token, "token", "", "a token of that server, when this machine has not joined it")
	cmd.Flags().Int64Var(&in.MaxPeers, "max-peers", 0, "at most this many members (5)")
	cmd.Flags().Int64Var(&in.PerMinute, "messages-per-minute", 0, "messages a minute and member (30)")
	return cmd
}

func newJoin(k *kit.Kit) *cobra.Command {
	var in peer.JoinIn
	cmd := &cobra.Command{Use: "join CODE", Short: "Join a space with an invite code", Example: "  tandem space join VPA6KW@host:39731",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Code = args[0]
			return Say(k, cmd, peer.SpaceJoin, in)
		}}
	announced(cmd, &in.Capabilities)
	return cmd
}

// announced are the flags with which a member says what it brings.
func announced(cmd *cobra.Command, c *peer.Capabilities) {
	cmd.Flags().StringSliceVar(&c.Tools, "tools", nil, "tools you have that peers should know of, e.g. kubectl,psql")
	cmd.Flags().StringVar(&c.Model, "model", "", "the model that works here, for peers to know")
}

func newRejoin(k *kit.Kit) *cobra.Command {
	var in peer.RejoinIn
	cmd := &cobra.Command{Use: "rejoin", Short: "Take your last seat again", Example: "  tandem space rejoin", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return Say(k, cmd, peer.SpaceRejoin, in) }}
	cmd.Flags().StringVar(&in.Host, "host", "", "HOST:PORT of the machine that took the space over, when this one did not find it")
	return cmd
}

func newLeave(k *kit.Kit) *cobra.Command {
	return simple(k, "leave", "Leave the space", "tandem space leave", peer.SpaceLeave)
}

func newList(k *kit.Kit) *cobra.Command {
	return simple(k, "list", "List the spaces you are in", "tandem space list", peer.SpaceList)
}

func newInvite(k *kit.Kit) *cobra.Command {
	var in peer.InviteIn
	var life time.Duration
	cmd := &cobra.Command{Use: "invite", Short: "Make an invite code, or a link",
		Example: "  tandem space invite\n  tandem space invite --link --for 1h", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if in.Minutes, err = kit.Life(cmd, "for", life, time.Minute); err != nil {
				return err
			}
			return Say(k, cmd, peer.SpaceInvite, in)
		}}
	cmd.Flags().BoolVar(&in.Link, "link", false, "a long link with a 128-bit secret and the host's pinned key")
	cmd.Flags().DurationVar(&life, "for", 0, "how long it is good for (24h)")
	return cmd
}

func newRevoke(k *kit.Kit) *cobra.Command {
	return one(k, "revoke CODE", "End an invite that was not used", "tandem space revoke VPA6KW", peer.SpaceRevoke,
		func(a string) peer.RevokeIn { return peer.RevokeIn{Code: a} })
}

func newRemove(k *kit.Kit) *cobra.Command {
	return one(k, "remove PEER", "Remove a member: it reads nothing that is said later", "tandem space remove NeonOtter", peer.SpaceRemove,
		func(a string) peer.RemoveIn { return peer.RemoveIn{Peer: a} })
}

func newSend(k *kit.Kit) *cobra.Command {
	var in peer.SendIn
	var files []string
	cmd := &cobra.Command{Use: "send MESSAGE", Short: "Send a message to a peer or to all",
		Example: "  tandem space send 'who has the staging key?' --type question --to NeonOtter\n" +
			"  tandem space send 'I have it' --reply-to m_01j…\n" +
			"  tandem space send 'the log of the crash' --attach crash.log",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Message = args[0]
			if len(files) == 0 {
				return Say(k, cmd, peer.SpaceSend, in)
			}
			ids, err := attach(k, cmd, files)
			if err != nil {
				return err
			}
			return Say(k, cmd, peer.SpaceSendFiles, peer.SendFilesIn{SendIn: in, Attachments: ids})
		}}
	cmd.Flags().StringVar(&in.Type, "type", "chat", strings.Join(peer.MessageTypes, ", "))
	cmd.Flags().StringVar(&in.To, "to", "", "a peer's username, or several with commas; all peers when left out")
	cmd.Flags().StringArrayVar(&files, "attach", nil, "a file to send with it, 8 MiB at most; again for more, up to 8")
	cmd.Flags().StringVar(&in.ReplyTo, "reply-to", "", "id of the message that this one answers; it goes to whoever wrote that")
	return cmd
}

func newInbox(k *kit.Kit) *cobra.Command {
	var in peer.InboxIn
	cmd := &cobra.Command{Use: "inbox", Short: "Read your unread messages, or the history",
		Example: "  tandem space inbox\n  tandem space inbox --all\n  tandem space inbox --text staging", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return Say(k, cmd, peer.SpaceInbox, in) }}
	cmd.Flags().BoolVar(&in.All, "all", false, "the history too")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (20)")
	cmd.Flags().Int64Var(&in.Before, "before", 0, "with --all: only messages before this number")
	cmd.Flags().StringVar(&in.Text, "text", "", "only messages with these words, read or not")
	cmd.Flags().StringVar(&in.Thread, "thread", "", "only the conversation that this message is in, by its id")
	return cmd
}

func newReceipt(k *kit.Kit) *cobra.Command {
	return one(k, "receipt ID", "Tell how far a message has come", "tandem space receipt m_01j…", peer.SpaceReceipt,
		func(a string) peer.ReceiptIn { return peer.ReceiptIn{ID: a} })
}

func newShare(k *kit.Kit) *cobra.Command {
	var in peer.ShareIn
	var lines string
	cmd := &cobra.Command{Use: "share FILE", Short: "Share a piece of a file",
		Example: "  tandem space share internal/auth.go --lines 10-40 --message 'look here'", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.File = args[0]
			if lines != "" {
				from, to, _ := strings.Cut(lines, "-")
				var err error
				if in.Start, err = strconv.Atoi(from); err == nil && to != "" {
					in.End, err = strconv.Atoi(to)
				}
				if err != nil {
					return kit.Usagef("--lines is FROM-TO, e.g. 10-40")
				}
			}
			return Say(k, cmd, peer.SpaceShare, in)
		}}
	cmd.Flags().StringVar(&lines, "lines", "", "which lines, e.g. 10-40 (1-21)")
	cmd.Flags().StringVar(&in.Message, "message", "", "what to say about it")
	cmd.Flags().StringVar(&in.To, "to", "", "a peer's username, or several with commas; all peers when left out")
	return cmd
}

func newSet(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "set KEY VALUE", Short: "Set a shared variable", Example: "  tandem space set datasource_uid P8E80F9AEF21F6940",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return Say(k, cmd, peer.SpaceSetVar, peer.SetVarIn{Key: args[0], Value: args[1]})
		}}
}

func newUnset(k *kit.Kit) *cobra.Command {
	return one(k, "unset KEY", "Delete a shared variable", "tandem space unset datasource_uid", peer.SpaceSetVar,
		func(a string) peer.SetVarIn { return peer.SetVarIn{Key: a} })
}

func newGet(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "get [KEY]", Short: "Read a shared variable, or all", Example: "  tandem space get datasource_uid",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := peer.GetVarIn{Key: "*"}
			if len(args) == 1 {
				in.Key = args[0]
			}
			return Say(k, cmd, peer.SpaceGetVar, in)
		}}
}

func newLog(k *kit.Kit) *cobra.Command {
	var in peer.ActivityIn
	cmd := &cobra.Command{Use: "log", Short: "Show what happened in the space", Example: "  tandem space log --limit 100", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return Say(k, cmd, peer.SpaceActivity, in) }}
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (30)")
	cmd.Flags().Int64Var(&in.Before, "before", 0, "only entries before this number")
	cmd.Flags().BoolVar(&in.Receipts, "receipts", false, "what was told about how far messages came, too")
	return cmd
}

func newPeers(k *kit.Kit) *cobra.Command {
	return simple(k, "peers", "List the peers and what they work on", "tandem space peers", peer.SpacePeers)
}

func newReserve(k *kit.Kit) *cobra.Command {
	var in peer.ReserveIn
	var life time.Duration
	cmd := &cobra.Command{Use: "reserve [PATH]", Short: "Lease a path, or list the leases",
		Example: "  tandem space reserve internal/auth.go --for 2h\n  tandem space reserve docs --shared", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Path = args[0]
			}
			var err error
			if in.Minutes, err = kit.Life(cmd, "for", life, time.Minute); err != nil {
				return err
			}
			return Say(k, cmd, peer.SpaceReserve, in)
		}}
	cmd.Flags().DurationVar(&life, "for", 0, "how long (1h)")
	cmd.Flags().BoolVar(&in.Shared, "shared", false, "others may lease it too, likewise shared; whoever has no lease on it stays off")
	return cmd
}

func newRelease(k *kit.Kit) *cobra.Command {
	return one(k, "release PATH", "Give a leased path free", "tandem space release internal/auth.go", peer.SpaceRelease,
		func(a string) peer.ReleaseIn { return peer.ReleaseIn{Path: a} })
}

func newPhrase(k *kit.Kit) *cobra.Command {
	return simple(k, "phrase", "Show the safety phrase to compare with others", "tandem space phrase", peer.SpacePhrase)
}

func newVerify(k *kit.Kit) *cobra.Command {
	return simple(k, "verify", "Check your copy of the space's history", "tandem space verify", peer.SpaceVerify)
}

func newWhoami(k *kit.Kit) *cobra.Command {
	return simple(k, "whoami", "Show your username in spaces", "tandem space whoami", peer.SpaceWhoami)
}

func newRename(k *kit.Kit) *cobra.Command {
	return one(k, "rename NAME", "Change your username in spaces", "tandem space rename NeonOtter", peer.SpaceRename,
		func(a string) peer.RenameIn { return peer.RenameIn{Name: a} })
}

func newTakeOver(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "take-over", Short: "Become the host of a space whose host is gone; needs your PIN",
		Long: "Make this machine the host of a space whose host does not answer any more. The others find it by themselves, " +
			"and the old host steps down when it returns. What was said on the old host's side after the lines were cut is said " +
			"again by those who said it.",
		Example: "  tandem space take-over", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return Say(k, cmd, peer.SpaceTakeOver, peer.TakeOverIn{}) }}
}
