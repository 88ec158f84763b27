package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.trace.Operation;

/**
 * A channel on a file or directory that records its operations on the bytes and carries out
 * injected faults.
 *
 * <p>Threads: any, as for every {@link FileChannel}.
 */
final class RecordingChannel extends FileChannel {
  /*
   * Order of locks: name space, position of a channel, content of a node. The position's lock makes
   * "read the position, do something there" one step against other threads that use the same
   * channel. Positional calls do not take it. The bytes to write are copied first, and the copy
   * goes to the file. So file and trace agree even if the program changes its buffer meanwhile.
   *
   * If the channel below throws, the number of bytes written is the number it took from the buffer.
   * (A channel of the JDK that is interrupted during a write has written, and throws.)
   *
   * The file system below closes a channel when a thread is interrupted. The first call that sees
   * this closes this channel, too, after releasing all locks, because closing may have to delete
   * the file.
   */

  /** Bytes copied at a time where the JDK would have copied them inside the kernel. */
  private static final int CHUNK = 1 << 16;

  /** The most bytes of one scattering or gathering call. The rest is left for the next call. */
  private static final int MOST = 1 << 30;

  /** Mappings that do not change the file. */
  private static final Set<MapMode> HARMLESS = Set.of(MapMode.READ_ONLY, MapMode.PRIVATE);

  /** A call without a position of its own. */
  private static final long HERE = -1;

  private final Recorder recorder;
  private final Surroundings surroundings;
  private final FileChannel delegate;
  private final OpenMode mode;
  private final @Nullable Node node;
  private final String name;
  private final boolean interruptible;
  private final ReentrantLock position = new ReentrantLock();

  /** The operations of a channel that need the names. */
  interface Surroundings {

    /** The bytes before the last write. */
    byte[] former(Node node, long position, int length);

    /**
     * The size of a file by its name, because its channel is closed; negative if it has no name.
     */
    long size(Node node) throws IOException;

    /** Opens a file below once more, to read and write it. */
    FileChannel reopen(Node node) throws IOException;

    /** Closes the channel below, and notes the side effects of closing. */
    void close(FileChannel channel) throws IOException;
  }

  /** A call of the channel below. */
  @FunctionalInterface
  private interface IoCall<T extends @Nullable Object> {
    T call() throws IOException;
  }

  /**
   * Wraps an open channel.
   *
   * @param recorder records every operation
   * @param surroundings the operations that need names
   * @param delegate the channel below
   * @param mode how it was opened
   * @param node the file or directory; null if it is outside the directory under test
   * @param name its name, for reports
   * @param interruptible whether an interrupt closes the channel: true unless it belongs to a
   *     stream or an asynchronous channel
   */
  RecordingChannel(
      Recorder recorder,
      Surroundings surroundings,
      FileChannel delegate,
      OpenMode mode,
      @Nullable Node node,
      String name,
      boolean interruptible) {
    this.recorder = recorder;
    this.surroundings = surroundings;
    this.delegate = delegate;
    this.mode = mode;
    this.node = node;
    this.name = name;
    this.interruptible = interruptible;
    recorder.opened(this);
  }

  /**
   * Closes the channel because its process is dead. Returns when none of its operations is under
   * way.
   */
  void end() throws IOException {
    Node file = node;
    if (file != null) {
      Recorder.waitFor(file.content());
    }
    close();
  }

  // Reading

  @Override
  public int read(ByteBuffer target) throws IOException {
    return read(target, HERE, recorder.caller());
  }

  @Override
  public int read(ByteBuffer target, long at) throws IOException {
    return read(target, notNegative(at), recorder.caller());
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, targets.length);
    ensureReadable();
    if (node == null || !recorder.asking()) {
      return closing(
          () -> inTurn(HERE, () -> counted(below(() -> delegate.read(targets, offset, length)))));
    }
    // A fault applies to the bytes as a whole, so they are read as a whole.
    ByteBuffer whole = ByteBuffer.allocate(remaining(targets, offset, length));
    int n = read(whole, HERE, recorder.caller());
    whole.flip();
    for (int i = offset; i < offset + length; i++) {
      targets[i].put(next(whole, targets[i].remaining()));
    }
    return n;
  }

  /** Reads at a position, or {@link #HERE}, for a caller. */
  int read(ByteBuffer target, long at, Caller caller) throws IOException {
    Objects.requireNonNull(target);
    ensureReadable();
    Node file = node;
    if (file != null) {
      recorder.sync(file);
    }
    return closing(() ->
        inTurn(
            at,
            () ->
                file == null || !recorder.asking() || !target.hasRemaining()
                    ? counted(readBelow(target, at))
                    : readFaulty(file, target, at, caller)));
  }

  private int readFaulty(Node file, ByteBuffer target, long at, Caller caller) throws IOException {
    long from = at == HERE ? below(delegate::position) : at;
    Strike strike =
        recorder.ask(FileOperation.Kind.READ, file.path(), from, target.remaining(), 0, caller);
    strike.before();
    closeIfInterrupted(strike);
    int first = target.position();
    int n = counted(readBelow(target, at));
    if (strike.fault() instanceof Fault.FlipBit(long bit) && bit / Byte.SIZE < n) {
      flip(target, first + (int) (bit / Byte.SIZE), bit);
    } else if (strike.fault() instanceof Fault.StaleRead && n > 0 && recorder.keeping()) {
      target.put(first, surroundings.former(file, from, n), 0, n);
    }
    strike.after();
    return n;
  }

  private int readBelow(ByteBuffer target, long at) throws IOException {
    return below(() -> at == HERE ? delegate.read(target) : delegate.read(target, at));
  }

  private <T extends Number> T counted(T bytes) {
    if (node != null) {
      recorder.counter().read(bytes.longValue());
    }
    return bytes;
  }

  @Override
  public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
    ensureReadable();
    if (!target.isOpen()) {
      throw new ClosedChannelException();
    }
    if (target instanceof RecordingChannel ours) {
      ours.ensureWritable();
    }
    notNegative(from);
    notNegative(count);
    Caller caller = recorder.caller();
    ByteBuffer chunk = ByteBuffer.allocate((int) Math.min(CHUNK, count));
    long moved = 0;
    while (moved < count) {
      chunk.clear().limit((int) Math.min(chunk.capacity(), count - moved));
      int got = read(chunk, from + moved, caller);
      if (got <= 0) {
        break;
      }
      int put = target.write(chunk.flip());
      moved += put;
      if (put < got) {
        break;
      }
    }
    return moved;
  }

  // Writing

  @Override
  public int write(ByteBuffer source) throws IOException {
    return write(source, HERE, recorder.caller());
  }

  @Override
  public int write(ByteBuffer source, long at) throws IOException {
    return write(source, notNegative(at), recorder.caller());
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, sources.length);
    // One write: it is one operation for trace, fault and crash, which divide it themselves.
    ByteBuffer whole = ByteBuffer.allocate(remaining(sources, offset, length));
    for (int i = offset; i < offset + length; i++) {
      whole.put(next(sources[i].duplicate(), whole.remaining()));
    }
    whole.flip();
    try {
      return write(whole, HERE, recorder.caller());
    } finally {
      int written = whole.position();
      for (int i = offset; i < offset + length; i++) {
        written -= next(sources[i], written).remaining();
      }
    }
  }

  /** Writes at a position, or {@link #HERE}, for a caller. */
  int write(ByteBuffer source, long at, Caller caller) throws IOException {
    Objects.requireNonNull(source);
    ensureWritable();
    Node file = node;
    if (file == null) {
      recorder.escape("a write to " + name);
    }
    recorder.sync();
    return closing(() ->
        inTurn(
            at,
            () ->
                file == null || !source.hasRemaining()
                    ? writeBelow(source, at)
                    : writeRecorded(file, source, at, caller)));
  }

  private int writeRecorded(Node file, ByteBuffer source, long at, Caller caller)
      throws IOException {
    file.content().lock();
    try {
      long size = mode.append() || recorder.asking() ? below(delegate::size) : 0;
      long offset = mode.append() ? size : at == HERE ? below(delegate::position) : at;
      long growth = recorder.asking() ? Math.max(0, offset + source.remaining() - size) : 0;
      Strike strike =
          recorder.ask(
              FileOperation.Kind.WRITE, file.path(), offset, source.remaining(), growth, caller);
      strike.before();
      closeIfInterrupted(strike);
      Fault fault = strike.fault();
      boolean lost = fault instanceof Fault.LoseWrite;
      long where = misdirected(fault, offset);
      ByteBuffer bytes = bytesToWrite(fault, source);
      int first = bytes.position();
      long place = recorder.place();
      try {
        if (lost) {
          bytes.position(bytes.limit());
        } else {
          writeBelow(bytes, where == offset ? at : where);
        }
      } finally {
        int written = bytes.position() - first;
        source.position(source.position() + written);
        if (written > 0 && !lost) {
          recordWrite(file, place, caller, landed(at, where, size, written), bytes, written);
        }
      }
      if (fault instanceof Fault.CutOff cut) {
        throw new IOException(cut.message());
      }
      int written = bytes.position() - first;
      if (at == HERE && !mode.append() && (lost || where != offset)) {
        below(() -> delegate.position(offset + written));
      }
      if (mode.forcesWrites() && written > 0) {
        recorder.forced(file, recorder.place(), mode.sync(), /* only= */ place, caller);
      }
      strike.after();
      return written;
    } finally {
      file.content().unlock();
    }
  }

  private void recordWrite(
      Node file, long place, Caller caller, long offset, ByteBuffer bytes, int written) {
    recorder.counter().write(written);
    if (recorder.keeping()) {
      // The copy from bytesToWrite.
      byte[] copy = bytes.array();
      int from = bytes.arrayOffset();
      byte[] data = written == copy.length ? copy : Arrays.copyOfRange(copy, from, from + written);
      recorder.record(
          place, caller, origin -> new Operation.Write(origin, file.number(), offset, data));
    }
  }

  /**
   * A positional write through an appending channel goes to its position or to the end: POSIX,
   * Linux and Windows do not agree. The growth of the file shows where it went.
   */
  private long landed(long at, long where, long sizeBefore, int written) throws IOException {
    boolean unknown = mode.append() && at != HERE && delegate.isOpen();
    return unknown && below(delegate::size) != sizeBefore + written ? at : where;
  }

  private long misdirected(Fault fault, long offset) {
    return fault instanceof Fault.Misdirect(long distance)
            && !mode.append()
            && offset + distance >= 0
        ? offset + distance
        : offset;
  }

  /** The bytes to write: a copy if they are kept or damaged. */
  private ByteBuffer bytesToWrite(Fault fault, ByteBuffer source) {
    int length = source.remaining();
    if (fault instanceof Fault.ShortWrite(int bytes)) {
      length = Math.min(length, Math.max(1, bytes));
    } else if (fault instanceof Fault.CutOff cut) {
      length = Math.min(length, Math.max(1, cut.bytes()));
    }
    ByteBuffer bytes = source.slice(source.position(), length);
    boolean flips = fault instanceof Fault.FlipBit(long bit) && bit / Byte.SIZE < length;
    if (recorder.keeping() || flips) {
      bytes = ByteBuffer.wrap(copy(bytes));
    }
    if (fault instanceof Fault.FlipBit(long bit) && flips) {
      flip(bytes, (int) (bit / Byte.SIZE), bit);
    }
    return bytes;
  }

  private int writeBelow(ByteBuffer source, long at) throws IOException {
    return below(() -> at == HERE ? delegate.write(source) : delegate.write(source, at));
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long at, long count) throws IOException {
    ensureOpen();
    if (!source.isOpen()) {
      throw new ClosedChannelException();
    }
    if (source instanceof RecordingChannel ours) {
      ours.ensureReadable();
    }
    ensureWritable();
    notNegative(at);
    notNegative(count);
    Caller caller = recorder.changing();
    ByteBuffer chunk = ByteBuffer.allocate((int) Math.min(CHUNK, count));
    long moved = 0;
    while (moved < count) {
      chunk.clear().limit((int) Math.min(chunk.capacity(), count - moved));
      int got = source.read(chunk);
      if (got <= 0) {
        break;
      }
      int put = write(chunk.flip(), at + moved, caller);
      moved += put;
      if (put < got) {
        break;
      }
    }
    return moved;
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    notNegative(size);
    ensureWritable();
    Node file = node;
    if (file == null) {
      recorder.escape("a truncation of " + name);
    }
    Caller caller = recorder.changing();
    closing(() ->
        inTurn(
            HERE,
            () ->
                file == null
                    ? below(() -> delegate.truncate(size))
                    : truncateRecorded(file, size, caller)));
    return this;
  }

  private FileChannel truncateRecorded(Node file, long size, Caller caller) throws IOException {
    file.content().lock();
    try {
      if (size >= below(delegate::size)) {
        // Changes no byte, but perhaps the position.
        return below(() -> delegate.truncate(size));
      }
      Strike strike = recorder.ask(FileOperation.Kind.TRUNCATE, file.path(), size, 0, 0, caller);
      strike.before();
      closeIfInterrupted(strike);
      long place = recorder.place();
      try {
        below(() -> delegate.truncate(size));
      } catch (ClosedByInterruptException e) {
        // The exception does not show whether it was done, but the size does.
        if (surroundings.size(file) == size) {
          recordTruncation(file, size, place, caller);
        }
        throw e;
      }
      recordTruncation(file, size, place, caller);
      strike.after();
      return delegate;
    } finally {
      file.content().unlock();
    }
  }

  private void recordTruncation(Node file, long size, long place, Caller caller) {
    recorder.counter().other();
    recorder.record(place, caller, origin -> new Operation.Truncate(origin, file.number(), size));
  }

  @Override
  public void force(boolean metadata) throws IOException {
    ensureOpen();
    Node forced = node;
    Caller caller = recorder.changing();
    closing(() -> {
      if (forced == null) {
        below(() -> force(delegate, metadata));
      } else {
        forceRecorded(forced, metadata, caller);
      }
      return this;
    });
  }

  private void forceRecorded(Node forced, boolean metadata, Caller caller) throws IOException {
    Strike strike = recorder.ask(FileOperation.Kind.FORCE, forced.path(), caller);
    long since = recorder.since(forced);
    if (strike.fault() instanceof Fault.FailForce(boolean clean) && clean) {
      recorder.record(
          recorder.place(),
          caller,
          origin -> new Operation.ForceFailed(origin, forced.number(), since));
    }
    strike.before();
    closeIfInterrupted(strike);
    recorder.delayForce(forced);
    below(() -> force(delegate, metadata));
    recorder.forced(forced, since, metadata, Operation.Force.ALL, caller);
    strike.after();
  }

  private static FileChannel force(FileChannel channel, boolean metadata) throws IOException {
    channel.force(metadata);
    return channel;
  }

  // Mappings

  @Override
  public MappedByteBuffer map(MapMode mapMode, long from, long size) throws IOException {
    return mapped(mapMode, () -> delegate.map(mapMode, from, size));
  }

  @Override
  public MemorySegment map(MapMode mapMode, long from, long size, Arena arena) throws IOException {
    Node file = node;
    if (file == null || !MapMode.READ_WRITE.equals(mapMode)) {
      return mapped(mapMode, () -> delegate.map(mapMode, from, size, arena));
    }
    ensureReadable();
    ensureWritable();
    Caller caller = recorder.changing();
    return closing(
        () -> mappedForWriting(file, notNegative(from), notNegative(size), arena, caller));
  }

  /** Maps a file so that stores are recorded. */
  private MemorySegment mappedForWriting(
      Node file, long from, long size, Arena arena, Caller caller) throws IOException {
    if (size == 0) {
      return arena.allocate(0);
    }
    file.content().lock();
    try {
      long before = below(delegate::size);
      if (before < from + size) {
        byte[] zeros = new byte[Math.toIntExact(from + size - before)];
        long place = recorder.place();
        below(() -> delegate.write(ByteBuffer.wrap(zeros), before));
        recorder.record(
            place, caller, origin -> new Operation.Write(origin, file.number(), before, zeros));
      }
      MappedFile mapping =
          new MappedFile(
              recorder,
              file,
              surroundings.reopen(file),
              caller,
              from,
              Math.toIntExact(size),
              arena);
      recorder.mapped(mapping);
      return mapping.memory();
    } finally {
      file.content().unlock();
    }
  }

  /**
   * Reads and private changes need no recording. But a mapping behind the end makes a file longer.
   */
  private <T> T mapped(MapMode mapMode, IoCall<T> map) throws IOException {
    if (!HARMLESS.contains(mapMode)) {
      if (node == null) {
        recorder.escape("a mapping for writing of " + name);
      } else {
        recorder.gap("a mapping for writing of " + node.path());
      }
    }
    Node file = node;
    if (file == null || !mode.write()) {
      return closing(() -> below(map));
    }
    Caller caller = recorder.changing();
    return closing(() -> {
      file.content().lock();
      try {
        long before = below(delegate::size);
        long place = recorder.place();
        T result = below(map);
        long grown = below(delegate::size) - before;
        if (grown > 0) {
          recorder.record(
              place,
              caller,
              origin ->
                  new Operation.Write(
                      origin, file.number(), before, new byte[Math.toIntExact(grown)]));
        }
        return result;
      } finally {
        file.content().unlock();
      }
    });
  }

  // Position and size

  @Override
  public long position() throws IOException {
    ensureOpen();
    return closing(() -> inTurn(HERE, () -> below(delegate::position)));
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    ensureOpen();
    closing(() -> inTurn(HERE, () -> below(() -> delegate.position(newPosition))));
    return this;
  }

  @Override
  public long size() throws IOException {
    ensureOpen();
    return closing(() -> below(delegate::size));
  }

  // Locks

  @Override
  public FileLock lock(long from, long size, boolean shared) throws IOException {
    ensureOpen();
    return closing(
        () -> new RecordingFileLock(this, below(() -> delegate.lock(from, size, shared))));
  }

  @Override
  public @Nullable FileLock tryLock(long from, long size, boolean shared) throws IOException {
    ensureOpen();
    FileLock lock = closing(() -> below(() -> delegate.tryLock(from, size, shared)));
    return lock == null ? null : new RecordingFileLock(this, lock);
  }

  /** The lock below, for a channel that wraps this one. */
  FileLock lockBelow(long from, long size, boolean shared) throws IOException {
    ensureOpen();
    return closing(() -> below(() -> delegate.lock(from, size, shared)));
  }

  /** The lock below, for a channel that wraps this one. */
  @Nullable FileLock tryLockBelow(long from, long size, boolean shared) throws IOException {
    ensureOpen();
    return closing(() -> below(() -> delegate.tryLock(from, size, shared)));
  }

  @Override
  protected void implCloseChannel() throws IOException {
    recorder.closed(this);
    surroundings.close(delegate);
  }

  // Calls of the channel below

  /** Wraps each public call: if the channel below was closed, this one is closed. */
  private <T extends @Nullable Object> T closing(IoCall<T> call) throws IOException {
    try {
      return call.call();
    } finally {
      if (!delegate.isOpen()) {
        close();
      }
    }
  }

  /** Calls that use the position are made one after the other. */
  private <T> T inTurn(long at, IoCall<T> call) throws IOException {
    if (at != HERE) {
      return call.call();
    }
    position.lock();
    try {
      return call.call();
    } finally {
      position.unlock();
    }
  }

  /**
   * Wraps each call of the channel below: an interrupt is delayed if it must not close the channel.
   */
  private <T extends @Nullable Object> T below(IoCall<T> call) throws IOException {
    if (interruptible || !Thread.interrupted()) {
      return call.call();
    }
    try {
      return call.call();
    } finally {
      Thread.currentThread().interrupt();
    }
  }

  /** Behaves like a channel of the JDK in a thread that is interrupted already. */
  private void closeIfInterrupted(Strike strike) throws IOException {
    if (strike.interrupts() && interruptible) {
      delegate.close();
      throw new ClosedByInterruptException();
    }
  }

  private void ensureOpen() throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  private void ensureReadable() throws IOException {
    ensureOpen();
    if (!mode.read()) {
      throw new NonReadableChannelException();
    }
  }

  private void ensureWritable() throws IOException {
    ensureOpen();
    if (!mode.write()) {
      throw new NonWritableChannelException();
    }
  }

  // Bytes

  private static long notNegative(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("negative position, size or count: " + value);
    }
    return value;
  }

  private static byte[] copy(ByteBuffer source) {
    byte[] bytes = new byte[source.remaining()];
    source.get(source.position(), bytes);
    return bytes;
  }

  private static void flip(ByteBuffer bytes, int index, long bit) {
    bytes.put(index, (byte) (bytes.get(index) ^ 1 << bit % Byte.SIZE));
  }

  private static int remaining(ByteBuffer[] buffers, int offset, int length) {
    long sum = 0;
    for (int i = offset; i < offset + length; i++) {
      sum += buffers[i].remaining();
    }
    return (int) Math.min(sum, MOST);
  }

  /** Takes up to this many bytes from a buffer. */
  private static ByteBuffer next(ByteBuffer source, int most) {
    int length = Math.min(source.remaining(), most);
    ByteBuffer part = source.slice(source.position(), length);
    source.position(source.position() + length);
    return part;
  }
}
