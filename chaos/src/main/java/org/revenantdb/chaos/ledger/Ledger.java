package org.revenantdb.chaos.ledger;

import java.io.FileNotFoundException;
import java.nio.file.Path;
import net.openhft.chronicle.bytes.MappedBytes;

/**
 * The child's side of a ledger: its entries survive the death of the child process.
 *
 * <p>The file is mapped, so an entry is in the page cache as soon as it is stored, without a system
 * call. A ledger survives the process, but not the machine.
 *
 * <p>Threads: any. Needs Chronicle Bytes on the class path and its {@link #flags flags}. The
 * parent's side needs neither.
 */
public final class Ledger implements AutoCloseable {

  /*
   * Atomicity  An entry's bytes are stored first, its length last and ordered, so a reader that
   *            sees the length sees the bytes. A process that is killed between the two has
   *            published nothing. All threads of a process die together and only one of them
   *            appends at a time. So at most the last entry is unpublished, and no whole entry
   *            follows a gap.
   * Order      is the order of the lock: an entry that was published before another one was begun
   *            comes before it.
   */

  private static final long CHUNK = 4 << 20;

  /** An entry that begins in a chunk always fits in the chunk and its overlap. */
  private static final int PIECE = 64 << 10;

  private final MappedBytes bytes;
  private long end = LedgerLayout.FIRST;

  private Ledger(MappedBytes bytes) {
    this.bytes = bytes;
  }

  /**
   * Returns the flags that a JVM with a ledger needs.
   *
   * @return flags, each a word
   */
  public static String[] flags() {
    return new String[] {
      "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
      "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
      "--enable-native-access=ALL-UNNAMED",
      "--sun-misc-unsafe-memory-access=allow",
      "-Dslf4j.internal.verbosity=ERROR",
    };
  }

  /**
   * Creates a ledger.
   *
   * @param file must not exist yet
   * @return the empty ledger
   * @throws FileNotFoundException if the file cannot be created
   */
  public static Ledger create(Path file) throws FileNotFoundException {
    MappedBytes bytes = MappedBytes.mappedBytes(file.toFile(), CHUNK, PIECE);
    bytes.singleThreadedCheckDisabled(true);
    bytes.writeOrderedLong(0, LedgerLayout.MAGIC);
    return new Ledger(bytes);
  }

  /**
   * Appends an entry. When this returns, the parent will read it.
   *
   * @param entry not empty
   */
  public synchronized void append(byte[] entry) {
    if (entry.length == 0) {
      throw new IllegalArgumentException(
          "an entry must not be empty: its length 0 would mean that no entry is there");
    }
    long body = end + LedgerLayout.LENGTH;
    for (int at = 0; at < entry.length; at += PIECE) {
      bytes.write(body + at, entry, at, Math.min(PIECE, entry.length - at));
    }
    bytes.writeOrderedInt(end, entry.length);
    end = LedgerLayout.next(end, entry.length);
  }

  /** Unmaps the file. The file stays. */
  @Override
  public synchronized void close() {
    bytes.releaseLast();
  }
}
