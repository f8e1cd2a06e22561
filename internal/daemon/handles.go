package daemon

import (
	"tandem/internal/client"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// The operations of the server itself and of its settings.
const (
	ServerBackup   = op.Def[BackupIn, BackupOut]("server.backup")
	ServerFindings = op.Def[identity.Nothing, FindingsOut]("server.findings")
	ServerHealth   = op.Def[identity.Nothing, Health]("server.health")
	ServerKeyCopy  = op.Def[KeyCopyIn, KeyCopyOut]("server.key_copy")
	ServerInvite   = op.Def[identity.Nothing, InviteOut]("server.invite")
	ServerLogs     = op.Def[LogsIn, struct{}]("server.logs")
	ServerMetrics  = op.Def[identity.Nothing, struct{}]("server.metrics")
	ServerReady    = op.Def[identity.Nothing, Ready]("server.ready")
	ServerRestore  = op.Def[RestoreIn, BackupOut]("server.restore")
	ServerRotate   = op.Def[RotateIn, RotateOut]("server.rotate")
	ServerStop     = op.Def[identity.Nothing, identity.OK]("server.stop")
	ServerTLSMoves = op.Def[identity.Nothing, client.MovesOut]("server.tls_moves")

	SettingKeep = op.Def[identity.Nothing, KeptOut]("setting.keep")
)
