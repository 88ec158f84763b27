package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.revenantdb.chaos.trace.Operation;

/**
 * A part of a file that is mapped for writing. Stores into the memory are found by a comparison of
 * pages, and enter the trace as one write for each page that has changed.
 *
 * <p>Threads: any.
 */
final class MappedFile {
  /*
   * The program gets a mapping of a temporary file, so that a file in memory can be mapped as well.
   * The recording has a second mapping of it, which stays readable when the program has ended its
   * own. sync() carries changed pages over to the recorded file. It is called before each operation
   * that changes something or forces something, at the death of the process, and at the end of the
   * trace. Nothing can become durable between two of these. So what a power cut leaves of the
   * stores since the last one is what it leaves directly after the next one.
   *
   * Death     sync() comes after the process was marked as dead. So all stores are in the file that
   *           the process made before any report that still counts. Later ones go nowhere.
   * Limits    what other channels write to the file, and what changes its length, does not show in
   *           the memory.
   */

  /** The operating system writes pages as a whole, in any order. */
  static final int PAGE = 4096;

  private final Recorder recorder;
  private final Node file;
  private final FileChannel below;
  private final Caller caller;
  private final long from;
  private final MemorySegment memory;
  private final MemorySegment stores;

  /** What the recorded file has. */
  private final byte[] known;

  /** Guarded by the lock of the node. */
  private boolean ended;

  /**
   * Maps a part of a file. The caller holds the lock of the node.
   *
   * @param below a channel of its own on the file below, which is closed when the mapping ends
   * @param from the first byte
   * @param size how many, all of them in the file
   * @param arena its end is the end of the mapping
   */
  MappedFile(
      Recorder recorder,
      Node file,
      FileChannel below,
      Caller caller,
      long from,
      int size,
      Arena arena)
      throws IOException {
    this.recorder = recorder;
    this.file = file;
    this.below = below;
    this.caller = caller;
    this.from = from;
    known = new byte[size];
    ByteBuffer content = ByteBuffer.wrap(known);
    while (content.hasRemaining() && below.read(content, from + content.position()) >= 0) {
      // The next part.
    }
    Path temporary = Files.createTempFile("mapped", null);
    try (FileChannel channel =
        FileChannel.open(temporary, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      content.rewind();
      while (content.hasRemaining()) {
        channel.write(content);
      }
      memory = channel.map(MapMode.READ_WRITE, 0, size, arena);
      stores = channel.map(MapMode.READ_ONLY, 0, size, Arena.ofAuto());
    } finally {
      Files.delete(temporary); // its mappings stay
    }
  }

  /** What the program gets. */
  MemorySegment memory() {
    return memory;
  }

  boolean isOf(Node node) {
    return file.equals(node);
  }

  /** Carries stores over. Returns whether the mapping has ended, so that none will follow. */
  boolean sync() throws IOException {
    file.content().lock();
    try {
      if (ended) {
        return true;
      }
      boolean last = !memory.scope().isAlive(); // known before the pages are read
      int at = 0;
      while (at < known.length) {
        int end = (int) Math.min(known.length, (from + at) / PAGE * PAGE + PAGE - from);
        if (MemorySegment.mismatch(stores, at, end, MemorySegment.ofArray(known), at, end) >= 0) {
          carryOver(at, end);
        }
        at = end;
      }
      if (last) {
        end();
      }
      return last;
    } catch (ClosedChannelException gone) {
      ended = true; // the disk below is closed
      return true;
    } finally {
      file.content().unlock();
    }
  }

  private void carryOver(int at, int end) throws IOException {
    MemorySegment.copy(stores, ValueLayout.JAVA_BYTE, at, known, at, end - at);
    byte[] page = Arrays.copyOfRange(known, at, end);
    long place = recorder.place();
    ByteBuffer bytes = ByteBuffer.wrap(page);
    while (bytes.hasRemaining()) {
      below.write(bytes, from + at + bytes.position());
    }
    recorder.record(
        place, caller, origin -> new Operation.Write(origin, file.number(), from + at, page));
  }

  /** The process has died. */
  void end() throws IOException {
    file.content().lock();
    try {
      ended = true;
      below.close();
    } finally {
      file.content().unlock();
    }
  }
}
