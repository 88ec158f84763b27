package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;
import org.revenantdb.chaos.hooks.AnyRun;
import org.revenantdb.chaos.inject.Target;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.ErrorFaults;
import org.revenantdb.chaos.run.ExitGuard;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultCatalogue;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.ForceCoverage;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.KnownFailures;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashCase;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.teeth.Teeth;

/**
 * The extension behind {@link CrashTest}: one invocation of {@link CrashSubject#survives} for each
 * kind of crash and profile.
 */
public final class CrashTestExtension
    implements BeforeAllCallback, TestTemplateInvocationContextProvider {

  /** Creates the extension. Called by JUnit. */
  public CrashTestExtension() {}

  /** Reports once for the class what cannot be tested, whatever other tests it has. */
  @Override
  public void beforeAll(ExtensionContext context) {
    Class<?> type = context.getRequiredTestClass();
    // A class nested in a crash test need not be one.
    if (AnnotationSupport.isAnnotated(type, CrashTest.class)) {
      ExitGuard.tellIn(settings(type).directory());
    }
  }

  @Override
  public boolean supportsTestTemplate(ExtensionContext context) {
    return Stream.of(context.getRequiredTestMethod().getParameterTypes())
        .anyMatch(CrashCase.class::equals);
  }

  @Override
  public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
      ExtensionContext context) {
    Class<?> type = context.getRequiredTestClass();
    CrashTestSettings settings = settings(type);
    if (settings.files() == FileAccess.ANY && settings.replay() == null) {
      AnyRun run = anyRun(type, settings);
      context.getStore(ExtensionContext.Namespace.create(CrashTestExtension.class)).put(type, run);
      return reported(
          anyCases(subject(type), settings, run), report(context, settings), settings.baseline());
    }
    SharedRecording recording = new SharedRecording(type, settings);
    context
        .getStore(ExtensionContext.Namespace.create(CrashTestExtension.class))
        .put(type, recording);
    return reported(
        cases(subject(type), settings, recording), report(context, settings), settings.baseline());
  }

  /** The report of the class, whatever number of methods it has. */
  private static ClassReport report(ExtensionContext context, CrashTestSettings settings) {
    Class<?> type = context.getRequiredTestClass();
    return context
        .getParent()
        .orElse(context)
        .getStore(ExtensionContext.Namespace.create(CrashTestExtension.class))
        .getOrComputeIfAbsent(
            ClassReport.class, key -> new ClassReport(type, settings), ClassReport.class);
  }

  private static Stream<TestTemplateInvocationContext> reported(
      Stream<NamedCase> cases, ClassReport report, @Nullable Baseline baseline) {
    return cases.map(one -> {
      if (one instanceof CrashTestCase crashes) {
        crashes.reportTo(report::add);
        crashes.accept(baseline);
      }
      return new Invocation(one);
    });
  }

  private static CrashTestSettings settings(Class<?> type) {
    if (!CrashSubject.class.isAssignableFrom(type)) {
      throw new ExtensionConfigurationException(
          "%s is a @CrashTest and does not implement %s"
              .formatted(type.getName(), CrashSubject.class.getName()));
    }
    CrashTest test =
        AnnotationSupport.findAnnotation(type, CrashTest.class)
            .orElseThrow(
                () -> new ExtensionConfigurationException(type.getName() + " is no @CrashTest"));
    try {
      return CrashTestSettings.of(test);
    } catch (IllegalArgumentException e) {
      throw new ExtensionConfigurationException(
          "%s cannot be tested for crashes: %s".formatted(type.getName(), e.getMessage()));
    }
  }

  @SuppressWarnings("unchecked") // checked above, except for the type parameter
  private static Class<? extends CrashSubject<?>> subject(Class<?> type) {
    return (Class<? extends CrashSubject<?>>) type;
  }

  private static Stream<NamedCase> cases(
      Class<? extends CrashSubject<?>> type,
      CrashTestSettings settings,
      SharedRecording recording) {
    if (settings.replay() != null) {
      return Stream.of(new ReplayCase(type, settings.replay(), settings));
    }
    List<NamedCase> cases = new ArrayList<>();
    for (Crash crash : settings.crashes()) {
      if (crash == Crash.PROCESS_DEATH) {
        cases.add(new ProcessDeathCase(type, settings));
      } else {
        for (PlatformProfile profile : settings.profiles()) {
          cases.add(new PowerCutCase(type, settings, profile, recording));
        }
      }
    }
    Target error = settings.error();
    if (error != null) {
      cases.clear(); // only that life
    }
    for (FaultKind kind : settings.faults()) {
      if (error == null || error.fault() == kind) {
        cases.add(
            new FaultTestCase(
                type,
                settings,
                kind,
                (one, known) -> faults(recording, settings, one, known),
                Teeth::proveFaults));
      }
    }
    if (settings.forceCoverage()) {
      cases.add(
          new ForceCoverageCase(
              type,
              settings,
              () -> coverage(recording, settings),
              () -> CrashTestCase.prove(Crash.POWER_CUT)));
    }
    return cases.stream();
  }

  private static Outcome faults(
      SharedRecording recording, CrashTestSettings settings, FaultKind kind, KnownFailures known)
      throws IOException {
    if (kind.isInCode()) {
      return errors(recording, settings, kind, known);
    }
    Recording of = recording.get();
    for (Recording one : List.of(of, recording.counted())) {
      if (!one.usable()) {
        return unusable(kind.title(), one);
      }
    }
    PowerCutOptions options = settings.faultCuts().withKnown(known);
    List<FaultCase> lives =
        FaultCatalogue.cases(
            kind, recording.possible().of(kind), options.seed(), settings.faultLives());
    if (lives.isEmpty()) {
      return seenIn(of, FaultCatalogue.nowhere(kind));
    }
    if (!settings.isolated()) {
      return seenIn(
          of, FaultCatalogue.run(kind, new FaultRun<>(recording.subjects(), options, lives)));
    }
    try (ImageChecker checker = recording.workers().get()) {
      return seenIn(
          of,
          FaultCatalogue.run(
              kind,
              FaultRun.isolated(
                  recording.subjects(), checker, settings.jvmFlags(), options, lives)));
    }
  }

  private static Outcome seenIn(Recording of, Outcome outcome) {
    return outcome.withSeen(of.seen().and(outcome.seen()));
  }

  private static Outcome unusable(String name, Recording of) {
    return Outcome.of(name, of.verdict(), of.reason()).withSeen(of.seen());
  }

  private static Outcome errors(
      SharedRecording recording, CrashTestSettings settings, FaultKind kind, KnownFailures known)
      throws IOException {
    Recording of = recording.get();
    if (!of.usable()) {
      return unusable(kind.title(), of);
    }
    ErrorFaults<Object> errors = recording.errors();
    Target error = settings.error();
    return seenIn(
        of,
        errors.run(
            kind,
            error == null
                ? errors.cases(kind, settings.faultLives())
                : List.of(ErrorFaults.of(error)),
            known));
  }

  private static Outcome coverage(SharedRecording recording, CrashTestSettings settings)
      throws IOException {
    Recording of = recording.get();
    if (!of.usable()) {
      return unusable("force coverage", of);
    }
    return seenIn(of, ForceCoverage.outcome(forces(of, recording, settings)));
  }

  private static List<CoverageRow> forces(
      Recording of, SharedRecording recording, CrashTestSettings settings) throws IOException {
    if (settings.isolated()) {
      return ForceCoverage.with(
              recording.subjects().get(),
              recording.workers(),
              List.of(of),
              settings.seed(),
              settings.workers())
          .run();
    }
    return new ForceCoverage<>(
            recording.subjects(),
            List.of(of),
            settings.seed(),
            settings.workers(),
            /* budget= */ Duration.ofDays(1))
        .thoroughOnly()
        .run();
  }

  /** Closed with the context that it is stored in. */
  private static AnyRun anyRun(Class<?> type, CrashTestSettings settings) {
    return new AnyRun(
            type,
            settings.seed(),
            settings.lives(),
            settings.limit(),
            settings.jvmFlags(),
            settings.directory())
        .imagesPerJvm(settings.imagesPerJvm());
  }

  private static Stream<NamedCase> anyCases(
      Class<? extends CrashSubject<?>> type, CrashTestSettings settings, AnyRun run) {
    List<NamedCase> cases = new ArrayList<>();
    for (Crash crash : settings.crashes()) {
      List<PlatformProfile> profiles =
          crash == Crash.PROCESS_DEATH ? settings.profiles().subList(0, 1) : settings.profiles();
      for (PlatformProfile profile : profiles) {
        cases.add(new AnyCase(type, settings, crash, profile, run));
      }
    }
    for (FaultKind kind : settings.faults()) {
      cases.add(
          new FaultTestCase(
              type,
              settings,
              kind,
              (one, known) -> {
                AnyCase.directory(settings);
                return run.faults(
                    one, settings.faultLives(), settings.faultCuts().withKnown(known));
              },
              () -> AnyCase.proveFaults(settings)));
    }
    if (settings.forceCoverage()) {
      cases.add(
          new ForceCoverageCase(
              type,
              settings,
              () -> {
                AnyCase.directory(settings);
                return run.forceCoverage(settings.workers());
              },
              () -> AnyCase.prove(Crash.POWER_CUT, settings)));
    }
    return cases.stream();
  }

  /** One invocation: a name, and the case as the value of the parameter. */
  private record Invocation(NamedCase crashCase)
      implements TestTemplateInvocationContext, ParameterResolver {

    @Override
    public String getDisplayName(int invocationIndex) {
      return crashCase.shown();
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(this);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == CrashCase.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return crashCase;
    }
  }
}
