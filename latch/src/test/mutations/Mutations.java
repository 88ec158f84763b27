import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Breaks the latch on purpose, one mutation at a time, and looks whether a test notices.
 *
 * <p>First the tests run on the code as it is: they must pass, and the time of each is noted. Then,
 * for each mutation, the sources are copied, changed and compiled, and the tests run in a JVM of
 * their own, the quickest first, until one fails. A test that takes twenty times as long as before,
 * and six seconds more, hangs; that counts as noticed.
 *
 * <p>Ends with 0 if every mutation was caught, or may survive and says why; with 1 if one survived;
 * with 2 if one does not fit the code any more, or the code fails without it.
 */
public final class Mutations {
  private static final String PACKAGE = "org/revenantdb/latch";
  private static final int SURVIVED = 1;
  private static final int UNFIT = 2;

  private static final long HANGS_AFTER_MILLIS = 6_000;
  private static final int HANGS_AFTER_TIMES = 20;

  private final Path main;
  private final Path work;
  private final Path tests;
  private final String libraries;

  /** By the name of the test method. */
  private final Map<String, Usual> usual = new TreeMap<>();

  /** Classes or methods, as JUnit's unique identifiers. */
  private List<String> order = List.of();

  private Mutations(Path latch, String libraries) {
    this.main = latch.resolve("src/main/java").resolve(PACKAGE);
    this.work = latch.resolve("target/mutations");
    this.tests = work.resolve("tests");
    this.libraries = libraries;
  }

  /** Arguments: the folder of the module, the libraries, and parts of names of mutations. */
  public static void main(String[] args) throws Exception {
    if (args[0].equals(Guest.NAME)) {
      Guest.run(Files.readAllLines(Path.of(args[1])));
      return;
    }
    Path latch = Path.of(args[0]);
    List<String> wanted = List.of(args).subList(2, args.length);
    List<Mutation> mutations;
    try (Stream<Path> files = Files.list(latch.resolve("src/test/mutations"))) {
      mutations =
          files
              .filter(file -> file.toString().endsWith(".mutation"))
              .filter(
                  file -> wanted.isEmpty() || wanted.stream().anyMatch(file.toString()::contains))
              .sorted()
              .map(Mutation::read)
              .toList();
    }
    System.exit(new Mutations(latch, args[1]).run(mutations));
  }

  private int run(List<Mutation> mutations) throws Exception {
    Map<String, String> original = sources(main);
    Path healthy = compile(original, "healthy");
    if (healthy == null || !compileTests(healthy)) {
      System.out.println("does not compile without any mutation");
      return UNFIT;
    }
    Verdict verdict = test(healthy);
    if (verdict.caughtBy() != null) {
      System.out.println("fails without any mutation: " + verdict.caughtBy());
      return UNFIT;
    }
    order =
        usual.values().stream().sorted(Comparator.comparing(Usual::millis)).map(Usual::id).toList();
    System.out.println("| mutation | caught by | s |");
    System.out.println("| --- | --- | --- |");
    int result = 0;
    for (Mutation mutation : mutations) {
      result = Math.max(result, judge(mutation, original));
    }
    return result;
  }

  private int judge(Mutation mutation, Map<String, String> original) throws Exception {
    String unfit = mutation.unfit(original);
    Path mutant = unfit == null ? compile(mutation.applyTo(original), "mutant") : null;
    if (mutant == null) {
      row(mutation, "**does not fit**: " + (unfit == null ? "does not compile" : unfit), 0);
      return UNFIT;
    }
    Verdict verdict = test(mutant);
    if (verdict.caughtBy() != null) {
      row(mutation, verdict.caughtBy(), verdict.seconds());
    } else if (mutation.survives() != null) {
      row(mutation, "nobody: " + mutation.survives(), verdict.seconds());
    } else {
      row(mutation, "**survives**", verdict.seconds());
      return SURVIVED;
    }
    return 0;
  }

  private static void row(Mutation mutation, String caughtBy, long seconds) {
    System.out.printf("| %s | %s | %d |%n", mutation.name(), caughtBy, seconds);
  }

  private static Map<String, String> sources(Path folder) throws IOException {
    Map<String, String> sources = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
        sources.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return sources;
  }

  private Path compile(Map<String, String> sources, String name) throws IOException {
    Path from = emptied(work.resolve(name + "-sources"));
    Path to = emptied(work.resolve(name));
    for (Map.Entry<String, String> source : sources.entrySet()) {
      Files.writeString(from.resolve(source.getKey()), source.getValue());
    }
    Path module = main.resolve("../../../module-info.java").normalize();
    return compile(from, to, List.of("-p", libraries, module.toString())) ? to : null;
  }

  private boolean compileTests(Path healthy) throws IOException {
    Path sources = main.resolve("../../../../../test/java").resolve(PACKAGE).normalize();
    if (!compile(sources, emptied(tests), List.of("-cp", healthy + ":" + libraries))) {
      return false;
    }
    try (Stream<Path> classes = Files.list(tests.resolve(PACKAGE))) {
      order =
          classes
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith("Test.class"))
              .map(name -> PACKAGE.replace('/', '.') + '.' + name.replace(".class", ""))
              .map(name -> "[engine:junit-jupiter]/[class:" + name + "]")
              .sorted()
              .toList();
    }
    return true;
  }

  private static boolean compile(Path from, Path to, List<String> more) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", to.toString()));
    arguments.addAll(more);
    try (Stream<Path> files = Files.list(from)) {
      files.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(arguments::add);
    }
    return compiler.run(null, null, null, arguments.toArray(String[]::new)) == 0;
  }

  /** Runs the tests on what was compiled; on the first call notes what each takes. */
  private Verdict test(Path classes) throws IOException, InterruptedException {
    long start = System.nanoTime();
    Path list = Files.write(work.resolve("order"), order);
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-ea", // as surefire does
            "-cp",
            String.join(
                ":", classes.toString(), tests.toString(), System.getProperty("java.class.path")),
            Mutations.class.getName(),
            Guest.NAME,
            list.toString());
    Process guest = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      return new Verdict(
          watch(lines(guest)), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
    } finally {
      guest.destroyForcibly().waitFor();
    }
  }

  /** Returns what noticed the mutation, null if nothing did. */
  private String watch(BlockingQueue<String> lines) throws InterruptedException {
    boolean noting = usual.isEmpty();
    String running = "the start";
    for (; ; ) {
      long millis = usual.containsKey(running) ? usual.get(running).millis() : 0;
      long patience =
          noting ? TimeUnit.MINUTES.toMillis(5) : HANGS_AFTER_MILLIS + HANGS_AFTER_TIMES * millis;
      String[] line = nextFromGuest(lines, patience);
      switch (line[1]) {
        case "start" -> running = line[2];
        case "end" -> {
          if (noting) {
            usual.merge(line[2], new Usual(line[4], Long.parseLong(line[3])), Usual::and);
          }
        }
        case "fail" -> {
          return "`" + line[2] + "`";
        }
        case "silence" -> {
          return "`" + running + "` (hangs)";
        }
        case "gone" -> {
          return "`" + running + "` (the JVM dies)";
        }
        default -> {
          return null;
        }
      }
    }
  }

  /** Skips what tests print themselves. */
  private static String[] nextFromGuest(BlockingQueue<String> lines, long patience)
      throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patience);
    for (; ; ) {
      String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null) {
        return new String[] {Guest.NAME, "silence"};
      }
      if (line.startsWith(Guest.NAME + " ")) {
        return line.split(" ", 5);
      }
    }
  }

  private static BlockingQueue<String> lines(Process guest) {
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread.ofVirtual()
        .start(() -> {
          try (BufferedReader out =
              new BufferedReader(new InputStreamReader(guest.getInputStream()))) {
            out.lines().forEach(lines::add);
          } catch (IOException | UncheckedIOException e) {
            // It was killed.
          }
          lines.add(Guest.NAME + " gone");
        });
    return lines;
  }

  private static Path emptied(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    return Files.createDirectories(folder);
  }

  /** What became of one mutation. */
  private record Verdict(String caughtBy, long seconds) {}

  /** What a test method takes on healthy code, all its repetitions together. */
  private record Usual(String id, long millis) {
    Usual and(Usual other) {
      return new Usual(id, millis + other.millis);
    }
  }

  /** One text in one file and what takes its place. */
  private record Edit(String file, String search, String replacement) {
    /** The search text, with any white space where it has some: formatting does not matter. */
    Matcher matcher(Map<String, String> sources) {
      String pattern =
          Stream.of(search.strip().split("\\s+"))
              .map(Pattern::quote)
              .collect(Collectors.joining("\\s+"));
      return Pattern.compile(pattern).matcher(sources.getOrDefault(file, ""));
    }
  }

  /** A named defect. */
  private record Mutation(String name, String survives, List<Edit> edits) {
    private static final Pattern EDIT =
        Pattern.compile("(?ms)^<<<< (\\S+)\\n(.*?)^====\\n(.*?)^>>>>$");

    static Mutation read(Path file) {
      try {
        String text = Files.readString(file);
        List<Edit> edits = new ArrayList<>();
        Matcher edit = EDIT.matcher(text);
        while (edit.find()) {
          edits.add(new Edit(edit.group(1), edit.group(2), edit.group(3)));
        }
        if (edits.isEmpty()) {
          throw new IOException("no edit in " + file);
        }
        return new Mutation(header(text, "mutation"), header(text, "survives"), edits);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String header(String text, String key) {
      return text.lines()
          .filter(line -> line.startsWith(key + ": "))
          .map(line -> line.substring(key.length() + 2))
          .findFirst()
          .orElse(null);
    }

    /** What is not found exactly once; null if all is. */
    String unfit(Map<String, String> sources) {
      for (Edit edit : edits) {
        long found = edit.matcher(sources).results().count();
        if (found != 1) {
          return "found %d times in %s: %s"
              .formatted(found, edit.file(), edit.search().strip().lines().findFirst().orElse(""));
        }
      }
      return null;
    }

    Map<String, String> applyTo(Map<String, String> original) {
      Map<String, String> sources = new TreeMap<>(original);
      for (Edit edit : edits) {
        String replacement = Matcher.quoteReplacement(edit.replacement().strip());
        sources.put(edit.file(), edit.matcher(sources).replaceFirst(replacement));
      }
      return sources;
    }
  }

  /** The other JVM: runs test classes in the order given, says what it does, ends at a failure. */
  private static final class Guest implements TestExecutionListener {
    static final String NAME = "@guest";

    private long start;

    static void run(List<String> ids) {
      Launcher launcher = LauncherFactory.create();
      launcher.registerTestExecutionListeners(new Guest());
      for (String id : ids) {
        launcher.execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectUniqueId(id))
                .build());
      }
      say("survived");
      Runtime.getRuntime().halt(0);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
      start = System.nanoTime();
      if (test.isTest()) {
        say("start " + nameOf(test));
      }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (result.getStatus() == TestExecutionResult.Status.FAILED) {
        say("fail " + nameOf(test));
        Runtime.getRuntime().halt(1);
      } else if (test.isTest()) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        say("end " + nameOf(test) + " " + millis + " " + methodOf(test));
      }
    }

    private static String nameOf(TestIdentifier test) {
      return test.getSource()
          .filter(MethodSource.class::isInstance)
          .map(MethodSource.class::cast)
          .map(source -> simple(source.getClassName()) + "." + source.getMethodName())
          .orElse(test.getDisplayName().replace(' ', '_'));
    }

    /** The method that this is, or is a repetition of. */
    private static UniqueId methodOf(TestIdentifier test) {
      UniqueId id = test.getUniqueIdObject();
      while (id.getLastSegment().getType().endsWith("-invocation")
          || id.getLastSegment().getType().startsWith("dynamic-")) {
        id = id.removeLastSegment();
      }
      return id;
    }

    private static String simple(String className) {
      return className.substring(className.lastIndexOf('.') + 1);
    }

    private static void say(String what) {
      System.out.println(NAME + " " + what);
    }
  }
}
