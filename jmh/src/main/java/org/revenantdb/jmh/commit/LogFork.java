package org.revenantdb.jmh.commit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.recovery.log.LifeStart;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * A JVM in which two threads append bytes to the log, and two write with {@code FileChannel.write}
 * in blocks of 1 MiB to a preallocated file, without forces. Both were written and forced once
 * before, and the log's segments released, as a checkpoint does. So both write to existing blocks.
 *
 * <p>Arguments: directory, bytes of a record, megabytes.
 */
public final class LogFork {
  private static final int THREADS = 2;
  private static final int BLOCK = 1 << 20;

  /** More than the files hold: headers of records, and segments that are prepared ahead. */
  private static final long SPARE = 64L << 20;

  private LogFork() {}

  /**
   * Prints {@code = log} and {@code = raw}, bytes a second, each after it was done once to warm up.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int record = Integer.parseInt(arguments[1]);
    long bytes = Long.parseLong(arguments[2]) << 20;
    long bound = 2 * bytes + SPARE;
    Path log = Files.createDirectories(directory.resolve("log"));
    LogOptions options =
        new LogOptions(
            LogOptions.DEFAULT_SEGMENT_SIZE,
            Integer.getInteger("ring", 2) << 20,
            bound,
            "bench",
            new IoStatistics());
    try (Log ours = start(log, options);
        LogPeak peak = LogPeak.ofLog(log, bound);
        FileChannel raw = preallocated(directory.resolve("raw"), bytes)) {
      append(ours, record, bytes);
      ours.awaitDurable(ours.tail());
      ours.recycleBelow(ours.tail());
      write(raw, bytes);
      raw.force(false);
      Told.tell("log", append(ours, record, bytes));
      ours.awaitDurable(ours.tail());
      Told.tell("raw", write(raw, bytes));
      peak.tell();
    }
  }

  /** An empty log in an empty directory. */
  static Log start(Path directory, LogOptions options) {
    return Log.start(
        new LifeStart(
            directory,
            new byte[16],
            /* life= */ 1,
            SegmentLayout.FIRST_BEGIN,
            options.segmentSize(),
            /* formerLife= */ 0,
            /* formerEnd= */ 0,
            new TreeMap<>(),
            new TreeSet<>(),
            new TreeSet<>()),
        options);
  }

  private static FileChannel preallocated(Path path, long bytes) throws IOException {
    FileChannel file =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    Forces.fill(file, bytes);
    file.force(true);
    return file;
  }

  /** Returns bytes a second, until the last of them was handed to the file. */
  private static double append(Log log, int record, long bytes) throws Exception {
    List<Thread> threads = new ArrayList<>();
    long from = log.tail();
    for (int i = 0; i < THREADS; i++) {
      threads.add(Thread.ofPlatform().unstarted(() -> publish(log, record, bytes)));
    }
    long start = System.nanoTime();
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    return (log.tail() - from) * 1e9 / (System.nanoTime() - start);
  }

  private static void publish(Log log, int record, long bytes) {
    RecordBuilder builder = new RecordBuilder();
    byte[] content = new byte[record];
    long credit = BLOCK;
    for (long done = 0; done < bytes / THREADS; ) {
      if (credit >= BLOCK) {
        // Like a thread that changes pages, takes credit with nothing latched: the
        // files exist before.
        log.ensureSegments(log.tail() + THREADS * 2L * BLOCK);
        credit = 0;
      }
      builder.begin(RecordType.PAGES, /* transactionId= */ 1);
      builder.beginPart(1, PartKind.CHANGE);
      builder.putBytes(content, 0, content.length);
      builder.endPart();
      log.publish(builder);
      done += builder.length();
      credit += builder.length();
    }
  }

  private static double write(FileChannel file, long bytes) throws IOException {
    ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
    long start = System.nanoTime();
    for (long at = 0; at < bytes; at += BLOCK) {
      block.clear();
      while (block.hasRemaining()) {
        file.write(block, at + block.position());
      }
    }
    return bytes * 1e9 / (System.nanoTime() - start);
  }
}
