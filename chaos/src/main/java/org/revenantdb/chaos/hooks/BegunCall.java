package org.revenantdb.chaos.hooks;

import java.io.FileDescriptor;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.agent.FileCall;
import org.revenantdb.chaos.hooks.Names.Node;
import org.revenantdb.chaos.hooks.OpenFiles.Opened;

/**
 * A call of a native method that concerns the directory under test, from before it until behind it.
 *
 * <p>Threads: that of the call.
 */
final class BegunCall {

  final FileCall call;
  final CallOrder.Caller by;

  /** The number of the stack. */
  final int stack;

  /** Whether the lock is held for it. */
  boolean locked;

  /** The record on the tape; 0: it has none, or none yet. */
  long record;

  /** Of a force: the place that it took before. */
  long since;

  /** Of an opening: the stream or random-access file, which has the descriptor afterwards. */
  @Nullable Object object;

  @Nullable FileDescriptor from;
  @Nullable FileDescriptor to;
  @Nullable Opened file;
  @Nullable Node node;
  String path = "";
  String other = "";

  /** What a trace cannot have, if the call succeeds; empty: it can be recorded. */
  String gap = "";

  int flags;
  int sync;
  boolean append;
  long a;
  long b;
  long offset;
  long length;
  long source;

  BegunCall(FileCall call, CallOrder.Caller by, int stack) {
    this.call = call;
    this.by = by;
    this.stack = stack;
  }

  /** Something that a trace cannot have, if the call succeeds. */
  BegunCall gap(String what) {
    gap = what;
    return this;
  }

  boolean isForce() {
    return switch (call) {
      case FORCE, FORCE_DESCRIPTOR, FORCE_MEMORY -> true;
      default -> false;
    };
  }

  boolean isClosing() {
    return switch (call) {
      case CLOSE_DESCRIPTOR, CLOSE_NUMBER, CLOSE_NUMBER_OR_HANDLE -> true;
      default -> false;
    };
  }

  /** The open file that it concerns. */
  Opened file() {
    if (file == null) {
      throw new IllegalStateException();
    }
    return file;
  }

  /** The file or directory that it concerns. */
  Node node() {
    if (node == null) {
      throw new IllegalStateException();
    }
    return node;
  }
}
