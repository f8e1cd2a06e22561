package terminal

import "tandem/internal/op"

// The operations of sessions that are an agent's program in a terminal.
const (
	SessionClose     = op.Def[NameIn, Seat]("session.close")
	SessionHook      = op.Def[HookIn, HookOut]("session.hook")
	SessionInterrupt = op.Def[NameIn, SendOut]("session.interrupt")
	SessionLive      = op.Def[LiveIn, SeatsOut]("session.live")
	SessionOpen      = op.Def[OpenIn, Seat]("session.open")
	SessionProbe     = op.Def[ProbeIn, Checked]("session.probe")
	SessionPrograms  = op.Def[ReapIn, ChecksOut]("session.programs")
	SessionReap      = op.Def[ReapIn, ReapOut]("session.reap")
	SessionRelease   = op.Def[WatchIn, HoldOut]("session.release")
	SessionScreen    = op.Def[WatchIn, ScreenOut]("session.screen")
	SessionSend      = op.Def[SendIn, SendOut]("session.send")
	SessionSkip      = op.Def[SkipIn, Skip]("session.skip")
	SessionSkips     = op.Def[LiveIn, SkipsOut]("session.skips")
	SessionTake      = op.Def[WatchIn, HoldOut]("session.take")
	SessionTool      = op.Def[UseIn, UseOut]("session.tool")
	SessionType      = op.Def[TypeIn, struct{}]("session.type")
	SessionUnskip    = op.Def[SkipIDIn, SkipIDIn]("session.unskip")
	SessionWatch     = op.Def[WatchIn, struct{}]("session.watch")
)
