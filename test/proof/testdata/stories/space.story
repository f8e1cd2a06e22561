# People and agents meet in a space that one of their machines hosts.
machines your-server laptop
your-server$ tandem up --listen 0.0.0.0:39731 && mkdir app && cd app
your-server> tandem space init            # in the project: writes .mcp.json (and with --hooks lets messages wake an idle Claude Code)
your-server> tandem space create fix-auth # prints a code such as VPA6KW, or VPA6KW@host:port when this machine can be reached
  shows @
let VPA6KW your-server$ tandem space invite --json | grep -o '[A-Z0-9]\{6\}@10[0-9.:]*' | head -1
laptop> tandem space join VPA6KW     # on the other side; agents say: Join the intandem space VPA6KW
  shows fix-auth
laptop> tandem space phrase          # read it out to each other: it is the same exactly when you see the same members
laptop$ tandem space leave
your-server$ tandem space leave
your-server> tandem space create fix-auth-bug                      # prints a code to tell the others
let VPA6KW your-server$ tandem space invite --json | grep -o '[A-Z0-9]\{6\}@10[0-9.:]*' | sed 's/@.*//' | head -1
laptop> tandem space join VPA6KW@your-server:39731
laptop> tandem board
