# The first ten minutes: a clone of the sources, and make up. What the go command has built before it need not build again.
machines laptop
laptop$ rm ~/.local/bin/tandem; mkdir tandem; cd /home/checkout && git ls-files -z | xargs -0 cp --parents -t ~/tandem; cd ~/tandem
laptop> make up      # builds, starts, prints the panel's address, the MCP connector and what to do next
  within 5m
  shows tandem is running
  shows signin?code=
  shows "mcpServers"
  shows pin set
laptop> make install                     # puts it in ~/.local/bin with its manual, so that tandem alone works
  within 5m
  shows its manual in
laptop> tandem setup                     # a PIN, a folder, a model or the built-in echo, your phone, a first turn; shows each command
  type 482913
  type 482913
  type
  type
  type 482913
  type
  shows $ tandem pin set
  shows $ tandem grant folder
  shows echo: say hello
  shows done     turn
laptop> tandem status                    # is it running, and where
  shows Listen: 127.0.0.1:39731
  shows Panel: http://t-….localhost:39731
laptop> tandem pin set                   # prove that you are a person: asked for whenever somebody must decide
laptop> tandem run "say hello"           # works on a fresh machine: the built-in model needs no key
  shows local/echo-1 answers
  shows say hello
laptop> tandem audit log                 # what happened, in order
  shows session.prompt
laptop> tandem audit verify              # and that nobody changed it
