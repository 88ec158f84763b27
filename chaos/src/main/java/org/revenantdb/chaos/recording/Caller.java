package org.revenantdb.chaos.recording;

import org.revenantdb.chaos.trace.CallStack;

/**
 * The caller of an operation, taken where the program calls, even if another thread carries it out.
 */
record Caller(String thread, CallStack stack) {}
