package org.revenantdb.suite.fuzz;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.disk.MemoryFileSystem;

/**
 * The child that opens variants, one after the other. Its lines:
 *
 * <pre>
 *   A text              alive: its work apart from variants
 *   B index             a variant begins
 *   F index finding     outcome, phase, signature, variant, detail; text in Base64
 *   E index kind outcome
 *   N                   it ends: a finding may have left threads or memory behind
 *   Q                   it ends: all variants are done
 *   H text              a sound database did not pass: no result counts
 * </pre>
 */
public final class FuzzChild {

  private final ChildPipe pipe;
  private final Path directory;
  private final Subject.Opener opener;
  private final Threads threads;

  private FuzzChild(ChildPipe pipe, Path directory, Subject.Opener opener) {
    this.pipe = pipe;
    this.directory = directory;
    this.opener = opener;
    this.threads = new Threads(opener.threads());
    threads.listen();
  }

  /**
   * Runs the child.
   *
   * @param arguments directory, opener class, and either {@code case} and the text of a variant, or
   *     seed, first index, index behind the last, number of this child and how many there are
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open();
    try {
      Subject.Opener opener =
          Class.forName(arguments[1])
              .asSubclass(Subject.Opener.class)
              .getDeclaredConstructor()
              .newInstance();
      FuzzChild child = new FuzzChild(pipe, Path.of(arguments[0]), opener);
      if (arguments[2].equals("case")) {
        child.one(Variant.parse(arguments[3]));
      } else {
        child.many(
            Long.parseLong(arguments[2]),
            Long.parseLong(arguments[3]),
            Long.parseLong(arguments[4]),
            Integer.parseInt(arguments[5]),
            Integer.parseInt(arguments[6]));
      }
      pipe.say("Q");
      Runtime.getRuntime().halt(0);
    } catch (Throwable e) {
      e.printStackTrace();
      System.err.flush();
      pipe.say("H " + String.valueOf(e).replace('\n', ' '));
      Runtime.getRuntime().halt(3);
    }
  }

  private void one(Variant variant) throws Exception {
    Family family = Families.get(directory, variant.seed(), variant.family());
    control(family);
    trial(0, variant, family);
  }

  private void many(long seed, long first, long end, int child, int children) throws Exception {
    int number = -1;
    Family family = new Family(List.of());
    VariantDraw draw = new VariantDraw(family, seed, number);
    for (long index = first; index < end; index++) {
      if (index / Families.CHUNK % children != child) {
        continue;
      }
      if (Families.of(index) != number) {
        number = Families.of(index);
        pipe.say("A family " + number);
        family = Families.get(directory, seed, number);
        control(family);
        draw = new VariantDraw(family, seed, number);
      }
      Variant variant = draw.draw(index);
      if (!trial(index, variant, family)) {
        pipe.say("N");
        Runtime.getRuntime().halt(0);
      }
    }
  }

  /** Checks that sound databases pass; otherwise no finding counts. */
  private void control(Family family) throws Exception {
    boolean first = true;
    for (int i = 0; i < family.moments().size(); i++) {
      pipe.say("A control " + i);
      Moment moment = family.moments().get(i);
      moment.image().hash(); // computed once for all forks
      MemoryFileSystem files = MemoryFileSystem.of(moment.image().fork());
      Subject open = opener.open(files.root().resolve(Place.DIRECTORY), /* readOnly= */ false);
      threads.learn(first);
      first = false;
      open.close();
      files.close();
      Variant sound = new Variant(0, 0, i, "none", List.of());
      Trial trial = run(sound, family, TrialDisks.InMemory.of(moment.image().fork()));
      if (trial.outcome() != Outcome.RIGHT) {
        throw new IllegalStateException(
            "a sound database, "
                + moment.name()
                + ", had the result "
                + trial.outcome().text()
                + ": "
                + trial.findings());
      }
    }
  }

  /** Runs one variant; returns false if the JVM should not continue. */
  private boolean trial(long index, Variant variant, Family family) throws IOException {
    pipe.say("B " + index + " " + encoded(variant.text()));
    DamagedDisk damaged = variant.make(family);
    Trial trial;
    if (damaged.specials().isEmpty()) {
      try (TrialDisks.InMemory disk = TrialDisks.InMemory.of(damaged.image())) {
        trial = run(variant, family, disk);
      }
    } else {
      Path place = Files.createTempDirectory("fuzz");
      try (TrialDisks.OnDisk disk = TrialDisks.OnDisk.of(damaged, place)) {
        trial = run(variant, family, disk);
      }
    }
    for (Finding finding : trial.findings()) {
      pipe.say(
          "F %d %s %s %s %s %s"
              .formatted(
                  index,
                  finding.outcome(),
                  encoded(finding.phase()),
                  encoded(finding.signature()),
                  encoded(variant.text()),
                  encoded(finding.detail())));
    }
    Outcome outcome = trial.outcome();
    pipe.say("E " + index + " " + variant.kind() + " " + outcome);
    return outcome.compareTo(Outcome.LEAKS) < 0;
  }

  private Trial run(Variant variant, Family family, Trial.Disk disk) {
    Trial trial = new Trial(opener, variant, family, disk, threads);
    trial.run();
    return trial;
  }

  static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  static String decoded(String text) {
    return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
  }
}
