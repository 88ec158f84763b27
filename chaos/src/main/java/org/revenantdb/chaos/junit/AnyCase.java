package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.teeth.Bite;

/** Crashes of a store that uses its files by any means. */
final class AnyCase extends CrashTestCase {

  private static final Map<Crash, Bite> PROVED = new ConcurrentHashMap<>();

  private final CrashTestSettings settings;
  private final Crash crash;
  private final PlatformProfile profile;
  private final AnyRun run;
  private int repeated;

  /**
   * Creates a case.
   *
   * @param profile for power cuts
   * @param run shared by the cases of a class
   */
  AnyCase(
      Class<?> type, CrashTestSettings settings, Crash crash, PlatformProfile profile, AnyRun run) {
    super(type, crash, settings.seed());
    this.settings = settings;
    this.crash = crash;
    this.profile = profile;
    this.run = run;
  }

  @Override
  public String name() {
    return crash + (crash == Crash.POWER_CUT ? ", " + profile : "") + ", files = " + FileAccess.ANY;
  }

  @Override
  public String tries() {
    return crash == Crash.POWER_CUT
        ? profile.title()
        : "a process dies at the boundaries between operations";
  }

  @Override
  Bite prove() {
    return prove(crash, settings);
  }

  /** Proves once in a JVM that a kind of crash is found in this way. */
  static Bite prove(Crash kind, CrashTestSettings settings) {
    return PROVED.computeIfAbsent(kind, one -> AnyRun.prove(one, directory(settings)));
  }

  /** Proves that faults are found in this way. */
  static Bite proveFaults(CrashTestSettings settings) {
    return AnyRun.proveFaults(directory(settings));
  }

  /** Makes the directory for files. */
  static Path directory(CrashTestSettings settings) {
    try {
      return Files.createDirectories(settings.directory());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  Outcome measure() throws IOException {
    directory(settings);
    try {
      return run.run(crash, settings.powerCut(profile).withKnown(known()));
    } finally {
      repeated = run.recording().promises().repeated();
    }
  }

  @Override
  int repeated() {
    return repeated;
  }
}
