package org.revenantdb.chaos.recording;

import org.revenantdb.chaos.trace.CallStack;

/** Who asked for an operation: taken where the program calls, also if another thread does it. */
record Caller(String thread, CallStack stack) {}
