package org.revenantdb.suite.crash;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultPlan;
import org.revenantdb.chaos.fault.FaultRule;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultCase.Contract;

/**
 * The faults of RevenantDB's files, and what it must do then.
 *
 * <p>Each kind of fault is combined with each kind of file where it makes sense. The seed
 * determines the operation, early ones more often, because every life has many of those.
 */
final class FaultCases {
  /*
   * Required    reported                nothing acknowledged is lost, the store opens and works
   *             data, double-write,     every answer is right, or the store refuses
   *             lock
   *             log, not reported       as before; but a damaged or lost write at the end of the
   *                                     log looks like the torn tail of a crash, so promises made
   *                                     after it may be lost
   *
   * Left out    Lost or misplaced writes of the data file, and stale reads of it: format.md §5
   *             assumes that there are none. A page contains its place and a checksum, and no other
   *             place contains which version of it is the last.
   */
  private static final String DATA = "**revenant.data*";
  private static final String DOUBLE_WRITE = "**revenant.dw";
  private static final String LOCK = "**revenant.lock";
  private static final String LOG = "**log/*";

  /** A process may die anywhere, so it dies more often than any single fault occurs. */
  private static final int DEATHS = 6;

  private static final int OPERATIONS_OF_A_LIFE = 400;

  private final Random random;
  private final List<FaultCase> cases = new ArrayList<>();

  private FaultCases(long seed) {
    random = new Random(seed);
  }

  /**
   * Cases in a random order.
   *
   * @param seed of the choice
   * @param occurrences the number of cases for each kind at each kind of file
   */
  static List<FaultCase> of(long seed, int occurrences) {
    FaultCases all = new FaultCases(seed);
    for (int i = 0; i < occurrences; i++) {
      all.told();
      all.kept();
    }
    Collections.shuffle(all.cases, all.random);
    return all.cases;
  }

  private void told() {
    for (String path : List.of(DATA, DOUBLE_WRITE, LOG)) {
      told("EIO", new Fault.Fail("Input/output error"), Kind.WRITE, path, 60);
      told("EIO", new Fault.Fail("Input/output error"), Kind.READ, path, 20);
      told("EIO", new Fault.Fail("Input/output error"), Kind.OPEN, path, 4);
      told("EIO", new Fault.Fail("Input/output error"), Kind.CREATE, path, 1);
      told("full disk", new Fault.DiskFull(), Kind.WRITE, path, 60);
      told("full disk", new Fault.DiskFull(), Kind.CREATE, path, 1);
      told("short write", new Fault.ShortWrite(1 + random.nextInt(600)), Kind.WRITE, path, 60);
      told("failed force", new Fault.FailForce(false), Kind.FORCE, path, 30);
      told("failed force, clean", new Fault.FailForce(true), Kind.FORCE, path, 30);
      told("OutOfMemoryError", new Fault.Throw(true), Kind.WRITE, path, 60);
      told("StackOverflowError", new Fault.Throw(false), Kind.WRITE, path, 60);
      told("OutOfMemoryError", new Fault.Throw(true), Kind.FORCE, path, 30);
      told("OutOfMemoryError", new Fault.Throw(true), Kind.READ, path, 20);
      told("interrupt", new Fault.Interrupt(), Kind.WRITE, path, 60);
      told("interrupt", new Fault.Interrupt(), Kind.FORCE, path, 30);
    }
    told("EIO", new Fault.Fail("Input/output error"), Kind.RENAME, "**", 3);
    told("EIO", new Fault.Fail("Input/output error"), Kind.DELETE, "**", 3);
    told("EIO", new Fault.Fail("Input/output error"), Kind.WRITE, LOCK, 1);
    for (int i = 0; i < DEATHS; i++) {
      int nth = 1 + random.nextInt(OPERATIONS_OF_A_LIFE);
      long inside = random.nextLong();
      cases.add(
          new FaultCase(
              "death, and a power cut later",
              "from operation " + nth + " on",
              () -> new DeadFrom(any -> true, nth, inside),
              Contract.NOTHING_LOST));
    }
    forceOfADirectory("failed force", false);
    forceOfADirectory("failed force, clean", true);
    told("failed force, clean", new Fault.FailForce(true), Kind.FORCE, "**", 80);
  }

  private void kept() {
    for (String path : List.of(DATA, DOUBLE_WRITE, LOG)) {
      Contract owed =
          path.equals(LOG) ? Contract.RIGHT_BEFORE_THE_FAULT : Contract.RIGHT_OR_REFUSED;
      long bit = random.nextInt(8 * 512);
      kept("flipped bit", new Fault.FlipBit(bit), Kind.WRITE, path, 60, owed);
      kept("flipped bit", new Fault.FlipBit(bit), Kind.READ, path, 20, owed);
    }
    long distance = 512L * (1 + random.nextInt(64));
    Contract log = Contract.RIGHT_BEFORE_THE_FAULT;
    kept("misdirected write", new Fault.Misdirect(distance), Kind.WRITE, LOG, 60, log);
    kept("lost write", new Fault.LoseWrite(), Kind.WRITE, LOG, 60, log);
    kept("stale read", new Fault.StaleRead(), Kind.READ, LOG, 20, log);
    Contract any = Contract.RIGHT_OR_REFUSED;
    kept("misdirected write", new Fault.Misdirect(8192), Kind.WRITE, DOUBLE_WRITE, 20, any);
    kept("lost write", new Fault.LoseWrite(), Kind.WRITE, DOUBLE_WRITE, 20, any);
    kept("stale read", new Fault.StaleRead(), Kind.READ, DOUBLE_WRITE, 4, any);
  }

  private void told(String name, Fault fault, Kind kind, String path, int last) {
    kept(name, fault, kind, path, last, Contract.NOTHING_LOST);
  }

  /** Only names of files contain a dot. */
  private void forceOfADirectory(String name, boolean clean) {
    add(
        name,
        FaultRule.of(new Fault.FailForce(clean))
            .kinds(Kind.FORCE)
            .path("a directory", path -> path.indexOf('.') < 0)
            .nth(nth(8)),
        Contract.NOTHING_LOST);
  }

  private void kept(String name, Fault fault, Kind kind, String path, int last, Contract owed) {
    add(name, FaultRule.of(fault).kinds(kind).path(path).nth(nth(last)), owed);
  }

  /** The product of two random numbers: half of the cases are in the first sixth. */
  private int nth(int last) {
    return 1 + (int) (random.nextDouble() * random.nextDouble() * last);
  }

  private void add(String name, FaultRule rule, Contract owed) {
    Supplier<FaultPlan> plan = () -> FaultPlan.of(rule);
    cases.add(new FaultCase(name, rule.toString(), plan, owed));
  }
}
