"""What the outside says about a click: who sent it, from which network, by what program; the stream it waits on."""
