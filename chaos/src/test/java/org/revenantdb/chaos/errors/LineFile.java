package org.revenantdb.chaos.errors;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A store of lines that is rewritten now and then, with one mistake or none. It is correct as long
 * as no error of the virtual machine occurs.
 */
final class LineFile implements AutoCloseable {

  /** What is wrong with it. */
  enum Mistake {
    NONE,
    /** A file is put in the place of the old one although it could not be written to its end. */
    INSTALLS_HALF_A_FILE,
    /** An allocation stands between the lock and the block that releases it. */
    ALLOCATES_BEFORE_TRY,
    /** A call stands between the lock and the block that releases it. */
    CALLS_BEFORE_TRY,
    /** A call releases the lock. */
    RELEASES_BY_A_CALL,
    /** As before, and the thread is interrupted on the way out. */
    INTERRUPTS_ITSELF,
    /** The thread that rewrites has no handler. */
    THREAD_DIES,
    /** No mistake: the JVM can have one open store, and one that was never closed counts. */
    ONE_AT_A_TIME
  }

  private static final int REWRITTEN_AFTER = 6;
  private static final AtomicBoolean OPEN = new AtomicBoolean();

  /** Made when it is first needed, which takes many allocations. */
  private static volatile @Nullable List<String> names;

  private final Mistake mistake;
  private final Path file;
  private final Path next;
  private final Path directory;
  private final Map<String, String> lines = new TreeMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final LinkedBlockingQueue<Boolean> requests = new LinkedBlockingQueue<>();
  private final Thread rewriter = new Thread(this::rewriteOnRequest, "rewriter");
  private FileChannel channel;
  private int puts;
  private boolean broken;

  LineFile(Path directory, Mistake mistake) throws IOException {
    this.mistake = mistake;
    this.directory = directory;
    this.file = directory.resolve("lines");
    this.next = directory.resolve("next");
    if (mistake == Mistake.ONE_AT_A_TIME && !OPEN.compareAndSet(false, true)) {
      throw new IOException("a store is open already");
    }
    if (names == null) {
      List<String> made = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        made.add("name" + i);
      }
      names = made;
    }
    Files.deleteIfExists(next);
    if (Files.exists(file)) {
      String text = Files.readString(file, StandardCharsets.UTF_8);
      for (String line : text.substring(0, text.lastIndexOf('\n') + 1).split("\n")) {
        int at = line.indexOf('=');
        if (at > 0) {
          lines.put(line.substring(0, at), line.substring(at + 1));
        }
      }
    }
    this.channel = null;
    rewrite();
    rewriter.start();
  }

  @Nullable String get(String key) {
    return lines.get(key);
  }

  void put(String key, String value) throws IOException {
    byte[] line = bytes(key, value);
    lock.lock();
    if (mistake == Mistake.ALLOCATES_BEFORE_TRY) {
      line = new byte[line.length];
      System.arraycopy(bytes(key, value), 0, line, 0, line.length);
    } else if (mistake == Mistake.CALLS_BEFORE_TRY) {
      line = bytes(key, value);
    } else if (mistake == Mistake.INTERRUPTS_ITSELF) {
      boolean made = false;
      try {
        line = new byte[line.length];
        System.arraycopy(bytes(key, value), 0, line, 0, line.length);
        made = true;
      } finally {
        if (!made) {
          Thread.currentThread().interrupt();
        }
      }
    }
    try {
      demandSound();
      boolean done = false;
      try {
        channel.write(ByteBuffer.wrap(line));
        channel.force(false);
        lines.put(key, value);
        done = true;
      } finally {
        broken |= !done;
      }
      if (++puts % REWRITTEN_AFTER == 0) {
        requests.add(true);
      }
    } finally {
      if (mistake == Mistake.RELEASES_BY_A_CALL) {
        release();
      } else {
        lock.unlock();
      }
    }
  }

  private void release() {
    lock.unlock();
  }

  private void demandSound() throws IOException {
    if (broken) {
      throw new IOException("the store has failed before");
    }
  }

  private static byte[] bytes(String key, String value) {
    return (key + "=" + value + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private void rewriteOnRequest() {
    try {
      while (requests.take()) {
        lock.lock();
        try {
          rewrite();
        } finally {
          lock.unlock();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Throwable e) {
      broken |= mistake != Mistake.THREAD_DIES;
      if (mistake == Mistake.THREAD_DIES) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void rewrite() throws IOException {
    // Broken until it has succeeded, so before another thread can have the lock.
    boolean before = broken;
    broken |= mistake != Mistake.THREAD_DIES;
    if (channel != null) {
      channel.close();
    }
    channel =
        FileChannel.open(
            next,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE));
    boolean whole = false;
    try {
      for (Map.Entry<String, String> line : lines.entrySet()) {
        channel.write(ByteBuffer.wrap(bytes(line.getKey(), line.getValue())));
      }
      whole = true;
    } finally {
      if (whole || mistake == Mistake.INSTALLS_HALF_A_FILE) {
        channel.force(false);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel names = FileChannel.open(directory)) {
          names.force(true);
        }
      }
    }
    broken = before;
  }

  @Override
  public void close() throws IOException {
    requests.add(false);
    boolean interrupted = false;
    while (true) {
      try {
        rewriter.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (mistake == Mistake.ONE_AT_A_TIME) {
      OPEN.set(false);
    }
    channel.close();
    demandSound();
  }
}
