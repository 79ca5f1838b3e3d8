//! What OpenPAI's own examples and the templates of its marketplace have in them, in our words.

use crate::parse::{Parsed, parse};
use crate::storages::asked;

/// Data in two places, an output, a script, a deployment, plugins, and blanks where few write them.
const TEMPLATE: &str = "protocolVersion: 2
name: sort_letters
type: job
version: 1.0
contributor : somebody
description: |
  # Letters

  They come in `two` folders.

prerequisites:
  - protocolVersion: 2
    name: python
    type: dockerimage
    version: 1.0-r1.4
    contributor : somebody
    uri: 'somebody/standard:python_3.6-gpu'
  - name: letters
    type: data
    uri :
      - /mnt/letters/written
      - /mnt/letters/printed
  - name: sorted
    type: output
    uri: /mnt/letters/sorted
  - name: sorter
    type: script
    uri: 'https://code.example/sorter.git'
jobRetryCount: 0
taskRoles:
  sorter:
    instances: 1
    completion:
      minFailedInstances: 1
    taskRetryCount: 0
    dockerImage: python
    data: letters
    output: sorted
    script: sorter
    extraContainerOptions:
      shmMB: 2048
    resourcePerInstance:
      gpu: 1
      cpu: 4
      memoryMB: 8192
      ports:
        board: 1
    commands:
      - export WRITTEN=<% $data.uri[0] %>
      - export PRINTED=<% $data.uri[1] %>
      - git clone <% $script.uri %> && cd sorter
      - >-
        python sort.py
        --to <% $output.uri %> &> log &
      - wait
      - 'echo ''how it went:'''
deployments:
  - name: at_home
    taskRoles:
      sorter:
        preCommands:
          - pip install letters==1.1.0
        postCommands:
          - cat log
defaults:
  virtualCluster: default
  deployment: at_home
extras:
  com.microsoft.pai.runtimeplugin:
    - plugin: ssh
      parameters:
        jobssh: true
        userssh: {}
    - plugin: teamwise_storage
      parameters:
        storageConfigNames:
          - letters
  hivedScheduler:
    taskRoles:
      sorter:
        skuNum: 1
        skuType: V100
";

/// What the role above does.
const COMMAND: &str = "pip install letters==1.1.0
export WRITTEN=/mnt/letters/written
export PRINTED=/mnt/letters/printed
git clone https://code.example/sorter.git && cd sorter
python sort.py --to /mnt/letters/sorted &> log &
wait
echo 'how it went:'
cat log";

fn read(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"))
}

#[test]
fn templates_of_the_marketplace_are_taken_as_they_are() {
    let Parsed { spec, masked_text, warnings, .. } = read(TEMPLATE);
    assert_eq!(masked_text, TEMPLATE, "not a letter is another one");
    assert_eq!(warnings, ["not used here: extras.hivedScheduler.taskRoles.sorter.skuNum"]);
    let [role] = &spec.roles[..] else { panic!("one role") };
    assert_eq!(role.command, COMMAND);
    assert_eq!((role.image.as_str(), role.shm_mb), ("somebody/standard:python_3.6-gpu", 2048));
    assert_eq!(role.gpu_types[0].as_str(), "V100");
    assert!(asked(&spec).is_some(), "the plugin's storage is one that the job has");
    for written in [crate::render::to_json(&spec), crate::render::to_yaml(&spec)] {
        assert_eq!(read(&written).spec.roles, spec.roles, "{written}");
    }
}

#[test]
fn what_is_no_template_is_refused_where_it_is_wrong() {
    let name = "name: sort_letters";
    // As three of the marketplace: the text is deeper than the number before it.
    let deeper = TEMPLATE.replace("jobRetryCount: 0\n", "jobRetryCount: 0\n  note: |\n    # Why\n");
    // As OpenPAI's own test of its burden, whose names come from a program.
    let unfilled = TEMPLATE.replace(name, "name: {{ name }}");
    // As an old one: OpenPAI refuses such a name as well.
    let spaced = TEMPLATE.replace(name, "name: Sort Letters");
    for text in [deeper, unfilled, spaced.clone()] {
        let problems = parse(&text).map(|parsed| parsed.spec).expect_err("it is refused");
        assert!(problems[0].line > 0 && !problems[0].message.is_empty(), "{problems:?}");
    }
    let problems = parse(&spaced).map(|parsed| parsed.spec).expect_err("a name has no blank");
    assert_eq!((problems.len(), problems[0].path.as_str()), (1, "name"), "{problems:?}");
}
