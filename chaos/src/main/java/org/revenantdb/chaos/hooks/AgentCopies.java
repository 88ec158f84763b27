package org.revenantdb.chaos.hooks;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import org.revenantdb.chaos.agent.Internals;
import org.revenantdb.chaos.hooks.Names.Node;

/**
 * Records bytes that go from one file to another. They are in no call, so they are read from their
 * source behind it.
 *
 * <p>Threads: under the lock of the {@link Journal}.
 */
final class AgentCopies {

  private static final long MOST_COPIED = 1 << 30;

  private final Journal journal;
  private final Entries entries;
  private final AgentNames names;
  private final AgentData data;
  private final KnownDirectory directory;

  AgentCopies(
      Journal journal,
      Entries entries,
      AgentNames names,
      AgentData data,
      KnownDirectory directory) {
    this.journal = journal;
    this.entries = entries;
    this.names = names;
    this.data = data;
    this.directory = directory;
  }

  private Internals internals() {
    return directory.open().internals();
  }

  // ---- before the call

  void transferringTo(BegunCall begun, FileDescriptor from, FileDescriptor to, long source)
      throws Throwable {
    begun.from = from;
    begun.to = to;
    begun.source = source;
    begun.offset = begun.file().append() ? internals().size(to) : internals().position(to);
  }

  void transferringFrom(BegunCall begun, FileDescriptor from, FileDescriptor to, long offset)
      throws Throwable {
    begun.from = from;
    begun.to = to;
    begun.source = internals().position(from);
    begun.offset = offset;
  }

  /** All of a file is copied, between two descriptors. */
  void copying(BegunCall begun, FileDescriptor to, FileDescriptor from) throws Throwable {
    begun.to = to;
    begun.from = from;
    begun.offset = internals().position(to);
    begun.source = internals().position(from);
  }

  /** All of a file is copied, to a name that has none yet, or loses it. */
  void cloning(BegunCall begun) {
    begun.path = directory.paths().below(begun.path);
    names.find(begun);
  }

  // ---- behind the call

  /** How much was copied between two descriptors, also if the call failed in the middle. */
  long copiedLength(BegunCall begun) throws Throwable {
    FileDescriptor to = begun.to;
    return to == null ? 0 : internals().size(to) - begun.offset;
  }

  /** Returns the result for the tape. */
  long copied(BegunCall begun, long length) throws Throwable {
    FileDescriptor from = begun.from;
    if (length <= 0 || from == null || begun.node().isDirectory()) {
      return 0;
    }
    Tape tape = journal.tape();
    if (length > MOST_COPIED) {
      tape.lose(Tape.FULL);
      return 0;
    }
    long at = data.begin(begun, length);
    if (at == 0) {
      return 0;
    }
    long to = tape.memory().address() + at + Tape.HEADER;
    for (long read = 0; read < length; ) {
      int n = internals().read(from, to + read, (int) (length - read), begun.source + read);
      if (n <= 0) {
        throw new IOException("what was copied cannot be read");
      }
      read += n;
    }
    publish(begun, at, length);
    return length;
  }

  /** A new file with a content. It was not open in this process, so it may be opened and closed. */
  long cloned(BegunCall begun) throws IOException {
    begun.flags = Tape.CREAT | Tape.TRUNC;
    byte[] content = Files.readAllBytes(directory.paths().real(begun.path));
    names.beginOpening(begun);
    replaced(begun);
    if (content.length > 0) {
      long at = data.begin(begun, content.length);
      if (at != 0) {
        journal.tape().put(at, 0, content, content.length);
        publish(begun, at, content.length);
      }
    }
    return content.length;
  }

  private void replaced(BegunCall begun) {
    Node existing = begun.node;
    if (existing == null) {
      names.created(begun);
    } else {
      journal.tape().set(begun.record, Tape.A, existing.number());
      existing.size(0);
    }
    journal.tape().done(begun.record, 0, 0);
    begun.record = 0;
  }

  private void publish(BegunCall begun, long at, long length) {
    entries.write(at, begun.node().number(), begun.offset, length, /* sync= */ 0);
    var _ = data.written(begun, length);
  }
}
