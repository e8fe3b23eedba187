#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/size_times.hpp"
#include "io/config/schema.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet {

/// One executable: commands, the flags that all share, and the one place where an error becomes a message and
/// an exit code.
///
/// @code
///   int main(int argc, char** argv) {
///     return quintet::Application("dpmd", "Deep Potential molecular dynamics", {})
///         .command<RunOptions>("run", "Run molecular dynamics", dpmd::run)
///         .execute(argc, argv);
///   }
/// @endcode
/// Shared flags of a command with a YAML file: --set key.path=value (repeatable), --restart auto|FILE,
/// --restart-with-changes, --output DIR, --overwrite, --walltime HH:MM:SS, --threads N, --validate,
/// --print-config, --quiet. Every executable with such a command also has `schema [COMMAND]` (a JSON Schema
/// for editors), `schemas` (of all commands, for `quintet`) and `reference` (a Markdown page of all keys).
class Application {
 public:
  Application(std::string name, std::string about, std::vector<Subsystem> subsystems = {});
  ~Application();

  /// A command that takes one YAML file into Options: `void run(Context&, const Options&)`.
  template <class Options>
  Application& command(const std::string& name, const std::string& about,
                       std::function<void(Context&, const Options&)> body) {
    return add_configured(name, about, bind<Options>,
                          [body = std::move(body)](Context& context, const void* options) {
                            body(context, *static_cast<const Options*>(options));
                          });
  }

  /// A positional argument or flag of a plain command (`quintet inspect FILE`, `dpmd evaluate --model M
  /// SYSTEM...`).
  struct Flag {
    std::string name;  ///< "--model"; "FILE" or "SYSTEM..." (one or more) without dashes is positional
    std::string about;
    bool required = false;
    std::string default_value;
    bool is_switch = false;  ///< takes no value ("--overwrite"); given, its values are {"true"}
  };
  /// Values of the flags of a plain command, in the order they were declared; a repeated or "..." one has
  /// several, one that was not given has its default, or none if the default is empty.
  using Arguments = std::vector<std::vector<std::string>>;

  /// How a key of the options of a plain command stands on its command line, where it is not `--key VALUE`.
  struct Word {
    std::string key;
    std::string name;  ///< "MODEL" or "SYSTEM..." by place, "--data..." with several words; "": not at all
    bool required = false;  ///< here, if not by its description
  };
  /// A command whose flags are described as keys are: `stride` is --stride VALUE, a list is repeatable, true
  /// or false is a switch. Help, checks, `reference` and `schema` follow. Runs with MPI and Kokkos up.
  template <class Options>
  Application& plain_command(const std::string& name, const std::string& about, std::vector<Word> words,
                             std::function<void(const Comm&, const Options&)> body) {
    return add_described(name, about, std::move(words), bind<Options>,
                         [body = std::move(body)](const Comm* comm, const void* options) {
                           body(*comm, *static_cast<const Options*>(options));
                         });
  }
  /// Add such a command for one process, without MPI and Kokkos.
  template <class Options>
  Application& local_command(const std::string& name, const std::string& about, std::vector<Word> words,
                             std::function<void(const Options&)> body) {
    return add_described(
        name, about, std::move(words), bind<Options>,
        [body = std::move(body)](const Comm* /*comm*/, const void* options) {
          body(*static_cast<const Options*>(options));
        },
        true);
  }

  /// The last command alone starts this library, after those of all.
  Application& starts(Subsystem subsystem);

  /// Any command may load LibTorch where it meets a model for it: its threads then sleep where they wait.
  Application& may_load_torch();

  /// Set the cost model of the last command, one with a YAML file, on other numbers of ranks: its hidden flag
  /// `--cost RANKS` (1,8,64) prints this as JSON and writes nothing. `quintet plan` asks for it.
  template <class Options>
  Application& cost(
      std::function<planning::CostModel(Context&, const Options&, const std::vector<int>&)> body) {
    return add_cost(
        [body = std::move(body)](Context& context, const void* options, const std::vector<int>& ranks) {
          return body(context, *static_cast<const Options*>(options), ranks);
        });
  }

  /// Ever smaller cases of the last command, one with a YAML file, whose step can be timed: its hidden flag
  /// `--step-times ROUNDS,SECONDS` prints the times as JSON. `quintet bench metg --app` asks for it.
  template <class Options>
  Application& sizes(std::function<SizeSeries(Context&, const Options&)> body) {
    return add_sizes([body = std::move(body)](Context& context, const void* options) {
      return body(context, *static_cast<const Options*>(options));
    });
  }

  /// A command with positional arguments and flags of its own; runs with MPI and Kokkos up.
  Application& plain_command(const std::string& name, const std::string& about, std::vector<Flag> flags,
                             std::function<void(const Comm&, const Arguments&)> body);
  /// A flag with which the last command, one with a YAML file, does something else instead (`dpmd train
  /// --from-deepmd input.json --output train.yaml`). `body` gets the values of the flag and of --output; it
  /// runs in one process, without MPI.
  Application& instead(Flag flag, std::function<void(const std::string&, const std::string&)> body);
  /// Add a command as plain_command() does, for one process and without starting MPI or Kokkos.
  Application& local_command(const std::string& name, const std::string& about, std::vector<Flag> flags,
                             std::function<void(const Arguments&)> body);
  /// Where this flag of the last command, a plain one, is given, it is a local command with this body.
  Application& local_with(const std::string& flag, std::function<void(const Arguments&)> body);
  /// A command that other builds have: asked for, it is refused with what this one lacks (`with_torch`), and
  /// --help says so.
  Application& absent_command(const std::string& name, const std::string& lacks);

  /// What `reference` prints before all flags: pages of files that no command takes as its input.
  Application& page(std::function<std::string()> text);

  /// Parse, start the runtime, run, report, stop; returns the exit code.
  int execute(int argc, char** argv);

 private:
  struct Bound {
    Describe describe;
    std::shared_ptr<const void> options;
  };
  template <class Options>
  static Bound bind() {
    auto options = std::make_shared<Options>();
    return {Describe([options](Schema& schema) { describe(schema, *options); },
                     [](Schema& schema) {
                       Options fresh{};
                       describe(schema, fresh);
                     }),
            options};
  }
  Application& add_described(const std::string& name, const std::string& about, std::vector<Word> words,
                             const std::function<Bound()>& bind,
                             std::function<void(const Comm*, const void*)> body, bool is_local = false);
  Application& add_configured(const std::string& name, const std::string& about, std::function<Bound()> bind,
                              std::function<void(Context&, const void*)> body);
  using Cost = std::function<planning::CostModel(Context&, const void*, const std::vector<int>& ranks)>;
  Application& add_cost(Cost body);
  using Sizes = std::function<SizeSeries(Context&, const void*)>;
  Application& add_sizes(Sizes body);
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
