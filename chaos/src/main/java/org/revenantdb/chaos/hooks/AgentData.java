package org.revenantdb.chaos.hooks;

import java.io.FileDescriptor;
import java.lang.foreign.MemorySegment;
import org.revenantdb.chaos.agent.Internals;
import org.revenantdb.chaos.hooks.Names.Node;

/**
 * Records what calls do to the content of files: writes, sizes, forces, mapped memory. The bytes of
 * a write are copied before the call; a force is written behind it.
 *
 * <p>Threads: under the lock of the {@link Journal}.
 */
final class AgentData {

  private final Journal journal;
  private final Entries entries;
  private final AgentNames names;
  private final KnownDirectory directory;

  AgentData(Journal journal, Entries entries, AgentNames names, KnownDirectory directory) {
    this.journal = journal;
    this.entries = entries;
    this.names = names;
    this.directory = directory;
  }

  private Internals internals() {
    return directory.open().internals();
  }

  // ---- before the call

  /** A write at the position of the descriptor, or at the end. */
  void writing(BegunCall begun, FileDescriptor to, MemorySegment bytes) throws Throwable {
    begun.append |= begun.file().append();
    begun.to = to;
    begun.offset = begun.append ? internals().size(to) : internals().position(to);
    writingAt(begun, bytes);
  }

  /** A write at the position that the call has. */
  void writingAt(BegunCall begun, MemorySegment bytes) {
    long length = bytes.byteSize();
    if (length == 0 || begun.node().isDirectory()) {
      return;
    }
    begun.length = length;
    long at = begin(begun, length);
    if (at != 0) {
      MemorySegment.copy(bytes, 0, journal.tape().memory(), at + Tape.HEADER, length);
      entries.write(at, begun.node().number(), begun.offset, length, begun.file().sync());
    }
  }

  /** Begins the record of a write, which is not published. */
  long begin(BegunCall begun, long length) {
    begun.record =
        journal
            .tape()
            .begin(Tape.WRITE, Math.toIntExact(length), 0, begun.by.thread(), begun.stack);
    return begun.record;
  }

  void sizing(BegunCall begun, long size) {
    begun.length = size;
    Node node = begun.node();
    begun.record =
        entries.size(
            begun.by.thread(), begun.stack, Tape.FTRUNCATE, node.number(), size, 0, node.size());
  }

  void forcing(BegunCall begun, boolean metadata) {
    begun.flags = metadata ? 1 : 0;
    begun.since = journal.clock().incrementAndGet();
  }

  // ---- behind the call

  /** Returns the result for the tape. */
  long written(BegunCall begun, long result) {
    if (result > 0 && begun.record != 0) {
      Node node = begun.node();
      node.size(Math.max(node.size(), begun.offset + result));
      MemorySegment memory = journal.tape().memory();
      directory
          .pages()
          .written(node, begun.offset, memory.asSlice(begun.record + Tape.HEADER, result));
    }
    return Math.max(result, -1); // the JDK has other negative results, and so has the tape
  }

  /** A stream writes long arrays in pieces, and the last one failed. */
  long writtenUntilFailure(BegunCall begun) throws Throwable {
    FileDescriptor to = begun.to;
    if (to == null) {
      return -1;
    }
    long end = begun.append ? internals().size(to) : internals().position(to);
    return end > begun.offset ? end - begun.offset : -1;
  }

  void sized(BegunCall begun) {
    begun.node().size(begun.length);
    directory.pages().zeroed(begun.node(), begun.length);
  }

  /** Also a force that failed is on the tape. */
  void forced(BegunCall begun) {
    begun.record =
        entries.force(
            begun.by.thread(), begun.stack, begun.node().number(), begun.since, begun.flags);
  }

  void memoryForced(BegunCall begun, long result) {
    for (SharedPages.Range range : directory.pages().ranges(begun.a, begun.b)) {
      entries.memoryForce(
          begun.by.thread(),
          begun.stack,
          range.file().number(),
          begun.since,
          range.from(),
          range.to(),
          result,
          /* errno= */ 0);
    }
  }

  void mapped(BegunCall begun, long address) {
    long whole = (begun.length + SharedPages.PAGE - 1) & -SharedPages.PAGE;
    if (directory.pages().add(address, whole, begun.offset, begun.node(), begun.stack)) {
      entries.mapping(begun.by.thread(), begun.stack, begun.node().number());
    } else {
      names.gap(
          begun,
          directory.paths().shown(begun.file().path()),
          "more memory was mapped than can be compared");
    }
  }

  /** A page of mapped memory has changed. */
  void stored(int thread, Node file, long offset, MemorySegment bytes, int stack) {
    int size = (int) bytes.byteSize();
    if (entries.page(thread, stack, file.number(), offset, bytes, 0, size)) {
      directory.pages().written(file, offset, bytes); // other mappings of the same file
    }
  }

  /** One byte, as memory. */
  static MemorySegment ofByte(long value) {
    return MemorySegment.ofArray(new byte[] {(byte) value});
  }
}
