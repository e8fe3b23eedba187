"""Write packages of AOTInductor that dpmd refuses, one by one: what allegro.pt2 and oneside.pt2 say, changed."""
import json
import zipfile


def write(name, source, change, member="_metadata.json", with_code=True):
    """Copy a package, with what `change` makes of a document in it (nothing: without it)."""
    with zipfile.ZipFile(source + ".pt2") as packed, zipfile.ZipFile(name + ".pt2", "w", zipfile.ZIP_DEFLATED) as changed:
        for entry in packed.namelist():
            content = packed.read(entry)
            if entry.endswith(member):
                document = change(json.loads(content))
                if document is None:
                    continue
                content = json.dumps(document)
            if with_code or not entry.endswith(".so"):
                changed.writestr(entry, content)


write("silent", "allegro", lambda says: None)
write("device", "allegro", lambda says: says | {"AOTI_DEVICE_KEY": "cuda"})
write("processor", "allegro", lambda says: says | {"AOTI_MACHINE": "s390x"})
write("stranger", "allegro", lambda says: {key: value for key, value in says.items() if key.startswith("AOTI")})
write("batch", "allegro", lambda says: says | {"nequip_aoti_inputs": says["nequip_aoti_inputs"] + " batch"})
write("operators", "allegro", lambda says: says | {"nequip_custom_ops_libs": "openequivariance"})
write("no_cutoff", "allegro", lambda says: {key: value for key, value in says.items() if key != "r_max"})
write("words", "allegro", lambda says: says | {"r_max": "far"})
write("graph", "oneside", lambda says: says | {"lower_input_kind": "graph"}, "extra/metadata.json")
write("messages", "oneside", lambda says: says | {"has_message_passing": True}, "extra/metadata.json")
write("parameters", "oneside", lambda says: says | {"dim_aparam": 2}, "extra/metadata.json")
write("sel", "oneside", lambda says: says | {"sel": says["sel"][:1]}, "extra/metadata.json")
write("order", "oneside", lambda says: says | {"output_keys": says["output_keys"][::-1]}, "extra/metadata.json")
write("outputs", "allegro", lambda says: says | {"nequip_aoti_outputs": "a b " + says["nequip_aoti_outputs"]})
write("far", "allegro", lambda says: says | {"per_edge_type_cutoff": "9 9 9 9"})
third = {"type_names": "O H C", "per_edge_type_cutoff": " ".join(9 * ["3.5"])}
write("third_named", "allegro", lambda says: says | third)
write("third", "allegro", lambda says: says | third | {"num_types": "3"})
write("codeless", "allegro", lambda says: says, with_code=False)
