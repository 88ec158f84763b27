package org.revenantdb.suite.big;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.revenantdb.chaos.crash.ChildFailedException;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.KillPoint;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.suite.model.ModelFailure;
import org.revenantdb.suite.model.Stores;

/**
 * Test of one value of a gigabyte in a JVM with a heap of 64 MiB: put, killed in the middle, put
 * again, read back, and no page lost.
 *
 * @param dir the directory of the database
 * @param seed determines the byte at which the child is killed
 * @param length of the value
 * @param poolBytes memory for pages
 * @param opener class name of the store's opener
 */
public record BigValue(Path dir, long seed, long length, long poolBytes, String opener) {

  private static final String HEAP = "64m";
  private static final long LOG = 32 << 20;
  private static final Duration STALL = Duration.ofMinutes(2);

  /**
   * Runs it.
   *
   * @return a sentence with the result
   * @throws ModelFailure if the value exists after the kill, comes back with other bytes, or leaks
   *     pages
   */
  public String run() {
    long killedAt;
    try {
      killedAt = putAndKill();
      putAndRead();
    } catch (ChildFailedException e) {
      throw new ModelFailure("a child failed: " + e.getMessage(), e);
    }
    return "seed %d: killed after %,d of %,d bytes, nothing of it was there; put again, read back, no page leaked"
        .formatted(seed, killedAt, length);
  }

  private long putAndKill() {
    KillPoint point =
        KillPoint.uniform(new SplittableRandom(seed), length / 20, length - length / 20);
    long taken = 0;
    try (ForkedJvm child = child();
        Progress progress = Progress.start("put, to be killed", "bytes", length)) {
      for (String line; (line = child.readLine()) != null; ) {
        if (line.charAt(0) == 'D') {
          throw new ModelFailure("the value was committed before the kill");
        }
        if (line.charAt(0) == 'P') {
          taken = Long.parseLong(line.substring(2));
          progress.at(taken);
          if (point.reached(taken) && !child.killed()) {
            child.kill();
          }
        }
      }
      child.demandOrderlyEnd();
    }
    return taken;
  }

  private void putAndRead() {
    String hash = "";
    String uncleaned = "";
    try (ForkedJvm child = child();
        Progress progress = Progress.start("put again", "bytes", length)) {
      for (String line; (line = child.readLine()) != null; ) {
        String text = line.length() > 2 ? line.substring(2) : "";
        switch (line.charAt(0)) {
          case 'V' -> demand("no", text, "the value is there after the kill");
          case 'P' -> progress.at(Long.parseLong(text));
          case 'H' -> hash = text;
          case 'K' -> uncleaned = text;
          case 'F' -> throw new ModelFailure("the check finds: " + text);
          default -> {}
        }
      }
      child.demandOrderlyEnd();
    }
    demand(expectedHash(), hash, "the value comes back with other bytes");
    demand("0", uncleaned, "pages cannot be cleaned");
  }

  private static void demand(String due, String found, String complaint) {
    if (!due.equals(found)) {
      throw new ModelFailure("%s: %s instead of %s".formatted(complaint, found, due));
    }
  }

  private ForkedJvm child() {
    return ForkedJvm.of(BigValueMain.class)
        .withCodeOf(Stores.opener(opener).getClass())
        .heap(HEAP)
        .flags("-XX:+UseSerialGC")
        .stallLimit(STALL)
        .argument(opener)
        .argument(dir)
        .argument(poolBytes)
        .argument(LOG)
        .argument(version())
        .argument(length)
        .fork();
  }

  private long version() {
    return 0x4269_6756_616C_0000L ^ seed;
  }

  private String expectedHash() {
    try (DigestInputStream in =
        new DigestInputStream(
            Stores.value(version(), length), MessageDigest.getInstance("SHA-256"))) {
      in.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(in.getMessageDigest().digest());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
